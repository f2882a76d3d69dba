import BenchProbe
import Carom
import SessionPeers

/// A server that unvalidated senders flood. Measures how many datagrams it receives and what each
/// costs.
actor SessionCaromFloodTarget: LoopActor {
  /// The values of all counters at one time.
  private struct Counters {
    var time: UInt64
    var cpu: UInt64
    var received: UInt64
    var sent: UInt64
    var memory: UInt64
  }

  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private var timer: LoopTimer?
  private var isWarm = false
  private var begin: Counters?
  private var finished: CheckedContinuation<Void, Never>?
  /// The mean size of a flood's datagrams, in bytes, by which a count of bytes becomes a count of
  /// datagrams.
  private let size = Double(SessionCarom.number("size", 1_200))
  private static let warmUp = Duration.milliseconds(500)
  private static let window = Duration.seconds(2)

  init(on loop: NetworkLoop) {
    self.loop = loop
    node = SessionCarom.makeNode(0, seats: 16, on: loop)
  }

  func run() async throws {
    side_listens(try await node.listen(on: [.loopback4]))
    timer = LoopTimer(on: loop, owner: self) { side in side.advance() }
    timer?.arm(after: .milliseconds(1))
    await withCheckedContinuation { finished = $0 }
  }

  private func advance() {
    let counters = counters
    if let begin {
      printFigures(from: begin, to: counters)
    } else if counters.received == 0 {
      timer?.arm(after: .milliseconds(1))
    } else if !isWarm {
      isWarm = true
      timer?.arm(after: Self.warmUp)
    } else {
      begin = counters
      timer?.arm(after: Self.window)
    }
  }

  private var counters: Counters {
    let (received, sent) = node.assumeIsolated { ($0.bytesReceived, $0.bytesSent) }
    return Counters(
      time: side_now(), cpu: bench_thread_cpu_nanoseconds(), received: received, sent: sent,
      memory: side_memory())
  }

  private func printFigures(from begin: Counters, to end: Counters) {
    let count = Double(end.received - begin.received) / size
    let seconds = Double(end.time - begin.time) / 1e9
    SessionOutput.figure("taken", count / seconds)
    SessionOutput.figure("answered", Double(end.sent - begin.sent) / seconds)
    SessionOutput.figure("cpu", Double(end.cpu - begin.cpu) / count)
    SessionOutput.figure("busy", Double(end.cpu - begin.cpu) / seconds / 1e9)
    SessionOutput.figure("grown", Double(end.memory) - Double(begin.memory))
    finished?.resume()
    finished = nil
  }
}

/// The flood: datagrams of one kind from many unvalidated addresses.
enum SessionCaromFlood {
  static func run() throws {
    let kind =
      SessionUnvalidatedSenders.Kind(rawValue: SessionCarom.text("kind", "hello")) ?? .hello
    let datagrams = SessionUnvalidatedSenders.datagrams(kind)
    let bytes = Array(datagrams.joined())
    let status = unsafe side_flood(
      UInt16(SessionCarom.number("port", 0)), bytes, datagrams.map(\.count), datagrams.count,
      Double(SessionCarom.number("rate", 0)))
    throw SessionFloodEnded(status: status)
  }
}

/// The flood stopped because a system call failed.
struct SessionFloodEnded: Error, CustomStringConvertible {
  let status: Int32

  var description: String {
    "the flood ended with status \(status): the line above says why"
  }
}
