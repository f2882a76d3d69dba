import CaromCore
import CaromProtocol

/// Identifies a message whose sender wants to know whether it was delivered.
struct ReceiptKey: Hashable, Sendable {
  let connection: ConnectionID
  /// The number that the connection gave the message.
  let message: UInt64
}

/// The state of a delivery receipt.
enum Receipt: Sendable {
  /// The message was sent, and its sender's task has not resumed yet.
  case pending
  /// The result arrived before the sender's task resumed: true if the message was delivered.
  case resolved(Bool)
  /// The sender's task is suspended until the result arrives.
  case awaited(CheckedContinuation<Bool, Never>)
}

/// Tasks that are suspended in calls of one node: senders without room, senders that await a
/// delivery receipt, and callers of `shutdown`.
struct NodeWaiters {
  var sends: [ConnectionID: BackpressureQueue] = [:]
  var receipts: [ReceiptKey: Receipt] = [:]
  /// Tasks that wait until the node has nothing left to send.
  var idle: [CheckedContinuation<Void, Never>] = []
  private var lastSendID: UInt64 = 0

  mutating func makeSendID() -> UInt64 {
    lastSendID += 1
    return lastSendID
  }

  /// The earliest time at which the lifetime of a waiting message ends, or nil if none has one.
  var nextTimeout: Instant? {
    sends.values.reduce(nil) { earliest($0, $1.nextTimeout) }
  }

  mutating func cancelSend(_ id: UInt64, on connection: ConnectionID) {
    let entry = sends[connection]?.entries.removeFirst { $0.id == id }
    if sends[connection]?.entries.isEmpty == true { sends[connection] = nil }
    entry?.continuation.resume(returning: .failure(.cancelled))
  }

  mutating func expireSends(at now: Instant) {
    for connection in sends.keys {
      while let entry = sends[connection]?.entries.removeFirst(where: { $0.isExpired(at: now) }) {
        entry.continuation.resume(returning: .failure(.expired))
      }
      if sends[connection]?.entries.isEmpty == true { sends[connection] = nil }
    }
  }

  /// Resumes every task that waits for something of a connection that has ended.
  mutating func failAll(of connection: ConnectionID) {
    while let entry = sends[connection]?.entries.popFirst() {
      entry.continuation.resume(returning: .failure(.notConnected))
    }
    sends[connection] = nil
    for key in receipts.keys where key.connection == connection { resolve(key, false) }
  }

  /// Hands the result of a receipt to its task, or stores it until the task asks.
  mutating func resolve(_ key: ReceiptKey, _ isDelivered: Bool) {
    switch receipts[key] {
    case .awaited(let continuation):
      receipts[key] = nil
      continuation.resume(returning: isDelivered)
    case .pending: receipts[key] = .resolved(isDelivered)
    case .resolved, nil: break
    }
  }

  mutating func cancelReceipt(_ key: ReceiptKey) {
    resolve(key, false)
    receipts[key] = nil
  }

  mutating func resumeIdle() {
    let waiters = idle
    idle = []
    for waiter in waiters { waiter.resume() }
  }
}
