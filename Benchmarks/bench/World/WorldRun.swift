import BenchProbe
import CaromCore
import CaromSimulation

/// A crowd and its clients, each of which follows one walker; acknowledgements are four ticks old.
struct WorldRun {
  static let delay = 4
  /// The number of ticks before the measured ones.
  static let warmUp = 60

  private var crowd: WorldCrowd
  private var world: WorldReplicator
  private var clients: [WorldReplicator.ClientID] = []
  private var receivers: [SnapshotReceiver] = []
  /// For each client, which of the last 64 ticks had a snapshot that will be acknowledged.
  private var written: [[Bool]] = []
  private var tick = 0
  private let interval: Int
  private var values: [[Int64]]

  /// The totals over all clients.
  private(set) var bytes = 0
  private(set) var largest = 0
  private(set) var seen = 0
  private(set) var snapshots = 0
  private(set) var clientTicks = 0
  private(set) var nanoseconds: UInt64 = 0
  private(set) var allocations: UInt64 = 0

  /// Creates the clients, each of which receives a snapshot every `interval` ticks.
  init(_ area: InterestArea, clients count: Int, interval: Int = 1, seed: UInt64 = 1) {
    crowd = WorldCrowd(seed: seed)
    world = WorldReplicator(WorldConfiguration(schema: WorldCrowd.schema, area: area))
    self.interval = interval
    values = (0..<crowd.count).map { _ in [0, 0, 0] }
    for _ in 0..<count {
      clients.append(world.addClient())
      receivers.append(SnapshotReceiver(schema: WorldCrowd.schema))
      written.append(Array(repeating: false, count: 64))
    }
  }

  /// The payload of each client, in kbit/s.
  var rate: Double { 8 * Double(bytes) / Double(max(clientTicks, 1)) * 60 / 1_000 }
  var mean: Double { Double(bytes) / Double(max(snapshots, 1)) }
  var visible: Double { Double(seen) / Double(max(snapshots, 1)) }
  var bitsPerVisible: Double { 8 * Double(bytes) / Double(max(seen, 1)) }

  /// Makes ticks. If `reading` is true, each client decodes its snapshots; if `counting` is true,
  /// the totals are updated.
  mutating func run(ticks: Int, reading: Bool, counting: Bool) {
    for _ in 0..<ticks { advance(reading: reading, counting: counting) }
  }

  private mutating func advance(reading: Bool, counting: Bool) {
    tick += 1
    crowd.advance()
    for index in values.indices { values[index] = crowd.values(index) }
    let allocationsBefore = bench_thread_allocations()
    let start = bench_thread_cpu_nanoseconds()
    write()
    if counting {
      nanoseconds += bench_thread_cpu_nanoseconds() - start
      allocations += bench_thread_allocations() - allocationsBefore
    }
    guard tick % interval == 0 else { return }
    if counting { count() }
    if reading { read() }
  }

  /// Does a server's work of one tick.
  private mutating func write() {
    for index in values.indices { world.set(UInt32(index), values: values[index]) }
    for index in clients.indices {
      let (x, y) = crowd.place(37 * index % crowd.count)
      world.setFocus(x: x, y: y, for: clients[index])
      if tick > Self.delay, written[index][(tick - Self.delay) & 63] {
        world.acknowledge(Tick(UInt64(tick - Self.delay)), from: clients[index])
      }
    }
    world.advance(to: Tick(UInt64(tick)))
    for index in clients.indices {
      written[index][tick & 63] = tick % interval == 0 && world.writeSnapshot(for: clients[index])
    }
  }

  private mutating func count() {
    for index in clients.indices {
      clientTicks += interval
      guard written[index][tick & 63] else { continue }
      let size = world.snapshot(for: clients[index]).count
      bytes += size
      largest = max(largest, size)
      snapshots += 1
      seen += receivers[index].entities.count
    }
  }

  private mutating func read() {
    for index in clients.indices where written[index][tick & 63] {
      do throws(SnapshotError) {
        try receivers[index].receive(world.snapshot(for: clients[index]).span)
      } catch {
        preconditionFailure("the receiver must decode what the server encoded: \(error)")
      }
    }
  }

  /// Returns the training data that the models collect with tiers, where clients receive near
  /// entities more often than distant ones.
  static func train(seed: UInt64) -> [SnapshotTraining] {
    var run = WorldRun(WorldMeasurement.tiers, clients: 6, seed: seed)
    run.run(ticks: warmUp, reading: false, counting: false)
    run.world.startTraining()
    run.run(ticks: 600, reading: false, counting: false)
    return run.world.training
  }
}
