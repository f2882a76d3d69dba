import Carom
import SessionPeers

/// The echo server: sends every message back unchanged.
actor SessionCaromEchoServer: LoopActor {
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
    case .requested(let connection, _, _): node.assumeIsolated { $0.admit(connection) }
    default: break
    }
  }

  private func answer(_ message: borrowing SessionMessage) {
    var echo = SessionBytes(count: message.bytes.count)
    for index in message.bytes.indices { echo.bytes[index] = message.bytes[index] }
    let channel: MessageChannel<SessionBytes> = message.channel == 0 ? .small : .inputs
    let connection = message.connectionID
    node.assumeIsolated { [echo] in try? $0.send(echo, on: channel, to: connection) }
  }
}

/// The echo client: measures one round trip at a time, on a loop that polls instead of sleeping.
actor SessionCaromEchoClient: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private var connection = ConnectionID(0)
  private var times = SessionTimes()
  private var sent = 0
  private var sentAt: UInt64 = 0
  private var timer: LoopTimer?
  private var finished: CheckedContinuation<Void, Never>?
  private let count = SessionCarom.number("count", 2_000)
  private let channel: MessageChannel<SessionBytes> =
    SessionCarom.text("mode", "unreliable") == "reliable" ? .small : .inputs
  private let interval = UInt64(SessionCarom.decimal("interval", 50e-6) * 1e9)
  private static let answerLimit: UInt64 = 200_000_000

  init(on loop: NetworkLoop) {
    self.loop = loop
    node = SessionCarom.makeNode(1, seats: 0, on: loop)
  }

  func run() async throws {
    await node.setMessageHandler(owner: self) { side, _ in side.receiveAnswer() }
    connection = try await node.connect(to: [SessionCarom.server()])
    SessionOutput.status("ready")
    timer = LoopTimer(on: loop, owner: self) { side in side.sendMessage() }
    sendMessage()
    await withCheckedContinuation { finished = $0 }
    times.printFigures("echo")
  }

  private func sendMessage() {
    guard sent < count else {
      finished?.resume()
      finished = nil
      return
    }
    sent += 1
    timer?.arm(after: .nanoseconds(Int64(Self.answerLimit)))
    let message = SessionBytes(count: Int(SIDE_ECHO))
    let (connection, channel) = (connection, channel)
    sentAt = side_now()
    node.assumeIsolated { try? $0.send(message, on: channel, to: connection) }
  }

  private func receiveAnswer() {
    let now = side_now()
    times.add(now - sentAt)
    let delay = sentAt + interval > now ? sentAt + interval - now : interval / 2
    timer?.arm(after: .nanoseconds(Int64(delay)))
  }
}
