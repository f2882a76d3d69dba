import BenchProbe
import Carom
import SessionPeers

/// A server that strangers flood: how many datagrams it takes, and what each costs.
actor SessionCaromStand: LoopActor {
  /// What was so at a time.
  private struct Moment {
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
  private var begin: Moment?
  private var finished: CheckedContinuation<Void, Never>?
  /// Bytes of a datagram, on average, and of what answers it.
  private let size = Double(SessionCarom.number("size", 1_200))
  private static let warm = Duration.milliseconds(500)
  private static let window = Duration.seconds(2)

  init(on loop: NetworkLoop) {
    self.loop = loop
    node = SessionCarom.makeNode(0, seats: 16, on: loop)
  }

  func run() async throws {
    side_listens(try await node.listen(on: [.loopback4]))
    timer = LoopTimer(on: loop, owner: self) { side in side.look() }
    timer?.arm(after: .milliseconds(1))
    await withCheckedContinuation { finished = $0 }
  }

  private func look() {
    let moment = moment
    if let begin {
      tell(from: begin, to: moment)
    } else if moment.received == 0 {
      timer?.arm(after: .milliseconds(1))
    } else if !isWarm {
      isWarm = true
      timer?.arm(after: Self.warm)
    } else {
      begin = moment
      timer?.arm(after: Self.window)
    }
  }

  private var moment: Moment {
    let (received, sent) = node.assumeIsolated { ($0.bytesReceived, $0.bytesSent) }
    return Moment(
      time: side_now(), cpu: bench_thread_cpu_nanoseconds(), received: received, sent: sent,
      memory: side_memory())
  }

  private func tell(from begin: Moment, to end: Moment) {
    let taken = Double(end.received - begin.received) / size
    let seconds = Double(end.time - begin.time) / 1e9
    SessionTell.figure("taken", taken / seconds)
    SessionTell.figure("answered", Double(end.sent - begin.sent) / seconds)
    SessionTell.figure("cpu", Double(end.cpu - begin.cpu) / taken)
    SessionTell.figure("busy", Double(end.cpu - begin.cpu) / seconds / 1e9)
    SessionTell.figure("grown", Double(end.memory) - Double(begin.memory))
    finished?.resume()
    finished = nil
  }
}

/// Strangers of one kind, from many addresses.
enum SessionCaromFlood {
  static func run() throws {
    let kind = SessionStrangers.Kind(rawValue: SessionCarom.text("kind", "hello")) ?? .hello
    let datagrams = SessionStrangers.datagrams(kind)
    let bytes = Array(datagrams.joined())
    let status = unsafe side_flood(
      UInt16(SessionCarom.number("port", 0)), bytes, datagrams.map(\.count), datagrams.count,
      Double(SessionCarom.number("rate", 0)))
    throw SessionFloodEnded(status: status)
  }
}

/// A flood that could not go on.
struct SessionFloodEnded: Error {
  let status: Int32
}
