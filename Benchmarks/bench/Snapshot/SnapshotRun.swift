import BenchProbe
import CaromCore
import CaromSimulation

/// Encodes and decodes the frames of a trace, with acknowledgements a fixed number of ticks old.
struct SnapshotRun {
  /// The number of snapshots before the measured ones.
  static let warmUp = 40

  private var sender: SnapshotSender
  private var receiver: SnapshotReceiver
  private let trace: SnapshotTrace
  private let delay: Int

  init(_ trace: SnapshotTrace, delay: Int) {
    self.trace = trace
    self.delay = delay
    sender = SnapshotSender(schema: trace.schema)
    receiver = SnapshotReceiver(schema: trace.schema)
  }

  /// Sends the whole trace and checks that the receiver decodes each frame as it was sent.
  static func measure(_ trace: SnapshotTrace, delay: Int) -> SnapshotFigures {
    var run = SnapshotRun(trace, delay: delay)
    return run.measure()
  }

  private mutating func measure() -> SnapshotFigures {
    var figures = SnapshotFigures(hertz: trace.hertz, entities: trace.frames.last?.count ?? 0)
    figures.sizes.reserveCapacity(trace.frames.count)
    for index in trace.frames.indices {
      let counts = index >= Self.warmUp
      let allocations = bench_thread_allocations()
      let start = bench_thread_cpu_nanoseconds()
      write(index)
      let middle = bench_thread_cpu_nanoseconds()
      read()
      let end = bench_thread_cpu_nanoseconds()
      precondition(
        receiver.entities == trace.frames[index],
        "the decoded snapshot must equal the encoded frame")
      guard counts else { continue }
      figures.allocations += bench_thread_allocations() - allocations
      figures.encodeNanoseconds += middle - start
      figures.decodeNanoseconds += end - middle
      figures.timed += 1
      figures.sizes.append(sender.bytes.count)
    }
    return figures
  }

  private mutating func write(_ index: Int) {
    if index >= delay { sender.acknowledge(Tick(UInt64(index - delay))) }
    sender.encode(trace.frames[index], at: Tick(UInt64(index)))
  }

  private mutating func read() {
    do throws(SnapshotError) {
      try receiver.receive(sender.bytes.span)
    } catch {
      preconditionFailure("the receiver must decode what the sender encoded: \(error)")
    }
  }

  /// Returns the training data that the models collect from a trace.
  static func train(_ trace: SnapshotTrace, delay: Int) -> SnapshotTraining {
    var sender = SnapshotSender(schema: trace.schema)
    for index in trace.frames.indices {
      if index >= delay { sender.acknowledge(Tick(UInt64(index - delay))) }
      if index == warmUp { sender.training = SnapshotTraining(schema: trace.schema) }
      sender.encode(trace.frames[index], at: Tick(UInt64(index)))
    }
    return sender.training ?? SnapshotTraining(schema: trace.schema)
  }
}
