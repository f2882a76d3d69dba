import Carom
import SessionPeers

/// Sends the messages that its options ask for: on a schedule, or as fast as it can.
actor SessionCaromSender: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private var connection = ConnectionID(0)
  private var source = SessionCarom.makeSource()
  private var timer: LoopTimer?
  private var remaining = 0
  private var finished: CheckedContinuation<Void, Never>?
  private static let groupSize = 64

  init(on loop: NetworkLoop) {
    self.loop = loop
    node = SessionCarom.makeNode(1, seats: 0, on: loop)
  }

  func run(_ role: SessionSubject.Role) async throws {
    await node.setHandler(owner: self) { side, event in side.handle(event) }
    let begin = side_now()
    connection = try await node.connect(to: [SessionCarom.server()])
    SessionOutput.figure("connect", Double(side_now() - begin) / 1e3)
    SessionOutput.status("ready")
    if role == .burst { return await burst() }
    timer = LoopTimer(on: loop, owner: self) { side in side.sendDue() }
    sendDue()
    // Waits until the process's standard input ends.
    await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
  }

  private func handle(_ event: SessionEvent) {
    if case .writable = event { sendBulk() }
  }

  /// Sends the scheduled messages that are due, and as much bulk as the queue accepts.
  private func sendDue() {
    while let (kind, message) = source.popDue() {
      send(message, on: kind == SIDE_IS_SMALL ? .small : .states)
    }
    if source.isBulk { sendBulk() }
    timer?.arm(after: source.timeUntilNext())
  }

  private func sendBulk() {
    let message = SessionBytes(SIDE_IS_BULK, 0, count: Int(SIDE_BULK))
    while send(message, on: .bulk) { continue }
  }

  /// Sends one message and returns whether the node accepted it.
  @discardableResult
  private func send(_ message: SessionBytes, on channel: MessageChannel<SessionBytes>) -> Bool {
    let connection = connection
    return node.assumeIsolated { node in
      (try? node.send(message, on: channel, to: connection)) != nil
    }
  }

  /// Sends messages of 100 bytes, 64 in each turn of the loop, and measures the processor time of
  /// each.
  private func burst() async {
    let count = SessionCarom.number("count", 1_000_000)
    let (begin, cpu) = (side_now(), side_cpu())
    remaining = count / Self.groupSize
    await withCheckedContinuation {
      finished = $0
      timer = LoopTimer(on: loop, owner: self) { side in side.continueBurst() }
      continueBurst()
    }
    // Messages dropped for lack of room took time too, but they do not count as sent.
    let dropped = await node.statistics(of: connection)?.dropped ?? 0
    let sent = Double(count - Int(dropped))
    SessionOutput.figure("cpu", Double(side_cpu() - cpu) / sent)
    SessionOutput.figure("rate", sent * 1e9 / Double(side_now() - begin))
    SessionOutput.figure("left", sent)
  }

  /// Continues in a new turn of the loop, which serves the sockets between the groups. A task that
  /// yields would pass through the global executor, which takes longer than the measured work.
  private func continueBurst() {
    guard remaining > 0 else {
      finished?.resume()
      finished = nil
      return
    }
    remaining -= 1
    sendGroup()
    timer?.arm(at: loop.now)
  }

  private func sendGroup() {
    let connection = connection
    let message = SessionBytes(SIDE_IS_BULK, 0, count: Int(SIDE_BURST))
    node.assumeIsolated { node in
      for _ in 0..<Self.groupSize { try? node.send(message, on: .inputs, to: connection) }
    }
  }
}
