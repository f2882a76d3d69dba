import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport

func makePeer(
  _ name: String, yields: Bool = false, isSpectator: Bool = false
) -> PeerInfo {
  PeerInfo(
    id: .random(), name: name, application: "test", yieldsSeat: yields,
    isSpectator: isSpectator)
}

/// Records a node's events, and lets a test wait for one of them.
actor Collector: LoopActor {
  private struct Waiter {
    var number: Int
    var test: (SessionEvent) -> Bool
    var continuation: CheckedContinuation<SessionEvent, any Error>
  }

  nonisolated let loop: NetworkLoop
  private(set) var events: [SessionEvent] = []
  private var waiters: [Waiter] = []
  private var lastWaiter = 0
  private var admitsAll = false
  private var node: SessionNode?

  init(on loop: NetworkLoop) { self.loop = loop }

  /// Records the events of `node` from now on. If `admitsAll`, admits every peer.
  func watch(_ node: SessionNode, admitsAll: Bool = false) async {
    self.node = node
    self.admitsAll = admitsAll
    await node.setHandler(owner: self) { collector, event in collector.take(event) }
  }

  func take(_ event: SessionEvent) {
    if admitsAll, case .requested(let connection, _, _) = event {
      node?.assumeIsolated { $0.admit(connection) }
    }
    events.append(event)
    if let index = waiters.firstIndex(where: { $0.test(event) }) {
      waiters.remove(at: index).continuation.resume(returning: event)
    }
  }

  /// Returns the first event, recorded or future, for which `test` holds. Throws if the test's time
  /// limit ends first.
  func first(_ test: @escaping @Sendable (SessionEvent) -> Bool) async throws -> SessionEvent {
    if let event = events.first(where: test) { return event }
    lastWaiter += 1
    let number = lastWaiter
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiters.append(Waiter(number: number, test: test, continuation: continuation))
        if Task.isCancelled { cancel(number) }
      }
    } onCancel: {
      Task { await cancel(number) }
    }
  }

  private func cancel(_ number: Int) {
    guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
    waiters.remove(at: index).continuation.resume(throwing: CancellationError())
  }

  func opened() async throws -> (ConnectionID, PeerInfo) {
    guard case .opened(let connection, let info) = try await first(\.isOpened) else {
      fatalError()
    }
    return (connection, info)
  }

  /// Waits until an open connection has ended, and returns the reason.
  func ending() async throws -> DisconnectReason {
    guard case .closed(_, _, let reason, _) = try await first(\.isLoss) else { fatalError() }
    return reason
  }

  var messages: [[UInt8]] {
    events.compactMap { if case .message(_, _, let bytes) = $0 { bytes } else { nil } }
  }
}

extension SessionEvent {
  var isOpened: Bool { if case .opened = self { true } else { false } }
  var isLoss: Bool { if case .closed(_, _, _, true) = self { true } else { false } }
  var isMeasured: Bool { if case .measured = self { true } else { false } }
}

/// A message of arbitrary bytes.
struct Note: PacketCodable, Equatable {
  var text: [UInt8]

  init(_ text: [UInt8]) { self.text = text }
  func encode(into writer: inout PacketWriter) { writer.write(text) }
  init(decoding reader: inout PacketReader) throws(DecodeError) { text = reader.readRest() }
}

extension MessageChannel<Note> {
  static var notes: Self { .init(0, .reliableOrdered) }
  static var latest: Self { .init(1, .unreliableSequenced) }
}
