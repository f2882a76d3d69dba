import Carom
import SessionPeers

/// Sends back what comes, as it came.
actor SessionCaromAnswerer: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode

  init(on loop: NetworkLoop) {
    self.loop = loop
    node = SessionCarom.makeNode(0, seats: 1, on: loop)
  }

  func run() async throws {
    await node.setHandler(owner: self) { side, event in side.handle(event) }
    await node.setMessageHandler(owner: self) { side, message in side.answer(message) }
    side_listens(try await node.listen(on: [.loopback4]))
    await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .requested(let link, _, _): node.assumeIsolated { $0.admit(link) }
    default: break
    }
  }

  private func answer(_ message: borrowing SessionMessage) {
    var echo = SessionBytes(count: message.bytes.count)
    for index in message.bytes.indices { echo.bytes[index] = message.bytes[index] }
    let channel: MessageChannel<SessionBytes> = message.channel == 0 ? .small : .inputs
    let link = message.connectionID
    node.assumeIsolated { [echo] in try? $0.send(echo, on: channel, to: link) }
  }
}

/// Round trips, one at a time, on a loop that spins.
actor SessionCaromAsker: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private var link = ConnectionID(0)
  private var times = SessionTimes()
  private var asked = 0
  private var askedAt: UInt64 = 0
  private var timer: LoopTimer?
  private var finished: CheckedContinuation<Void, Never>?
  private let count = SessionCarom.number("count", 2_000)
  private let channel: MessageChannel<SessionBytes> =
    SessionCarom.text("mode", "unreliable") == "reliable" ? .small : .inputs
  private let interval = UInt64(SessionCarom.decimal("interval", 50e-6) * 1e9)
  private static let patience: UInt64 = 200_000_000

  init(on loop: NetworkLoop) {
    self.loop = loop
    node = SessionCarom.makeNode(1, seats: 0, on: loop)
  }

  func run() async throws {
    await node.setMessageHandler(owner: self) { side, _ in side.hear() }
    link = try await node.connect(to: [SessionCarom.server()])
    SessionTell.say("ready")
    timer = LoopTimer(on: loop, owner: self) { side in side.ask() }
    ask()
    await withCheckedContinuation { finished = $0 }
    times.tell("echo")
  }

  private func ask() {
    guard asked < count else {
      finished?.resume()
      finished = nil
      return
    }
    asked += 1
    timer?.arm(after: .nanoseconds(Int64(Self.patience)))
    let message = SessionBytes(count: Int(SIDE_ECHO))
    let (link, channel) = (link, channel)
    askedAt = side_now()
    node.assumeIsolated { try? $0.send(message, on: channel, to: link) }
  }

  private func hear() {
    let now = side_now()
    times.add(now - askedAt)
    let rest = askedAt + interval > now ? askedAt + interval - now : interval / 2
    timer?.arm(after: .nanoseconds(Int64(rest)))
  }
}
