import Carom
import SessionPeers

/// Receives messages and prints the figures of what arrived.
actor SessionCaromReceiver: LoopActor {
  nonisolated let loop: NetworkLoop
  private let node: SessionNode
  private var meter = SessionCarom.makeMeter()
  private var timer: LoopTimer?
  private var finished: CheckedContinuation<Void, Never>?

  init(on loop: NetworkLoop) {
    self.loop = loop
    node = SessionCarom.makeNode(0, seats: 1, on: loop)
  }

  func run() async throws {
    await node.setHandler(owner: self) { side, event in side.handle(event) }
    await node.setMessageHandler(owner: self) { side, message in side.meter.record(message.bytes) }
    let port = try await node.listen(
      on: [.any4], port: UInt16(SessionCarom.number("port", 0)))
    side_listens(port)
    timer = LoopTimer(on: loop, owner: self) { side in side.checkWhetherDone() }
    timer?.arm(after: .milliseconds(5))
    await withCheckedContinuation { finished = $0 }
    meter.printFigures()
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .requested(let connection, _, _): node.assumeIsolated { $0.admit(connection) }
    default: break
    }
  }

  private func checkWhetherDone() {
    if meter.isDone() {
      finished?.resume()
      finished = nil
    } else {
      timer?.arm(after: .milliseconds(5))
    }
  }
}
