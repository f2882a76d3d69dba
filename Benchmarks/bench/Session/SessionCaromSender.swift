import Carom
import SessionPeers

/// Sends what it is told to: to a time, or as fast as it can.
actor SessionCaromSender: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private var link = ConnectionID(0)
  private var source = SessionCarom.makeSource()
  private var timer: LoopTimer?
  private var remaining = 0
  private var finished: CheckedContinuation<Void, Never>?
  private static let together = 64

  init(on loop: NetworkLoop) {
    self.loop = loop
    node = SessionCarom.makeNode(1, seats: 0, on: loop)
  }

  func run(_ role: SessionSubject.Role) async throws {
    await node.setHandler(owner: self) { side, event in side.handle(event) }
    let begin = side_now()
    link = try await node.connect(to: [SessionCarom.server()])
    SessionTell.figure("connect", Double(side_now() - begin) / 1e3)
    SessionTell.say("ready")
    if role == .burst { return await burst() }
    timer = LoopTimer(on: loop, owner: self) { side in side.sendDue() }
    sendDue()
    // Until the process's input ends.
    await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
  }

  private func handle(_ event: SessionEvent) {
    if case .writable = event { sendBulk() }
  }

  /// What has come to its time, and bulk as far as it is taken.
  private func sendDue() {
    while let (kind, message) = source.take() {
      send(message, on: kind == SIDE_IS_SMALL ? .small : .states)
    }
    if source.isBulk { sendBulk() }
    timer?.arm(after: source.wait())
  }

  private func sendBulk() {
    let message = SessionBytes(SIDE_IS_BULK, 0, count: Int(SIDE_BULK))
    while send(message, on: .bulk) { continue }
  }

  /// Whether it was taken.
  @discardableResult
  private func send(_ message: SessionBytes, on channel: MessageChannel<SessionBytes>) -> Bool {
    let link = link
    return node.assumeIsolated { node in
      (try? node.send(message, on: channel, to: link)) != nil
    }
  }

  /// 100-byte messages, 64 a turn of the loop; what one of them costs here.
  private func burst() async {
    let count = SessionCarom.number("count", 1_000_000)
    let (begin, cpu) = (side_now(), side_cpu())
    remaining = count / Self.together
    await withCheckedContinuation {
      finished = $0
      timer = LoopTimer(on: loop, owner: self) { side in side.continueBurst() }
      continueBurst()
    }
    // What found no room any more cost something, and is not counted.
    let dropped = await node.statistics(of: link)?.dropped ?? 0
    let left = Double(count - Int(dropped))
    SessionTell.figure("cpu", Double(side_cpu() - cpu) / left)
    SessionTell.figure("rate", left * 1e9 / Double(side_now() - begin))
    SessionTell.figure("left", left)
  }

  /// On the loop's own turns, sockets between them: a task that yields goes by way of the global
  /// pool, which takes longer than what is measured.
  private func continueBurst() {
    guard remaining > 0 else {
      finished?.resume()
      finished = nil
      return
    }
    remaining -= 1
    sendTogether()
    timer?.arm(at: loop.now)
  }

  private func sendTogether() {
    let link = link
    let message = SessionBytes(SIDE_IS_BULK, 0, count: Int(SIDE_BURST))
    node.assumeIsolated { node in
      for _ in 0..<Self.together { try? node.send(message, on: .inputs, to: link) }
    }
  }
}
