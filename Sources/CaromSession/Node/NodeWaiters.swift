import CaromCore
import CaromProtocol

/// The key of a message whose sender waits for its delivery receipt.
struct ReceiptKey: Hashable, Sendable {
  let connection: ConnectionID
  /// The number that identifies the message in events.
  let message: UInt64
}

/// The state of a delivery receipt.
enum Receipt: Sendable {
  /// The result has not arrived, and the sender's task is not suspended to wait for it.
  case pending
  /// The result arrived before the sender's task waited for it: true if the message was delivered.
  case resolved(Bool)
  /// The sender's task is suspended until the result arrives.
  case awaited(CheckedContinuation<Bool, Never>)
  /// The closure is called on the loop if the message is delivered.
  case reported(@Sendable () -> Void)
}

/// The tasks that are suspended in calls to one node: senders that wait for room in the send queue,
/// senders that wait for a delivery receipt, and callers of `shutdown`.
struct NodeWaiters {
  var sends: [ConnectionID: BackpressureQueue] = [:]
  var receipts: [ReceiptKey: Receipt] = [:]
  /// The tasks that wait until the node has nothing left to send.
  var idle: [CheckedContinuation<Void, Never>] = []
  private var lastSendID: UInt64 = 0

  mutating func makeSendID() -> UInt64 {
    lastSendID += 1
    return lastSendID
  }

  /// The earliest end of a waiting message's lifetime, or nil if no waiting message has a lifetime.
  var nextTimeout: Instant? {
    sends.values.reduce(nil) { earliest($0, $1.nextTimeout) }
  }

  mutating func cancelSend(_ id: UInt64, on connection: ConnectionID) {
    let entry = sends[connection]?.removeFirst { $0.id == id }
    if sends[connection]?.entries.isEmpty == true { sends[connection] = nil }
    entry?.continuation?.resume(returning: .failure(.cancelled))
  }

  /// Removes the waiting messages whose lifetimes have ended. Returns the connections that had any.
  mutating func expireSends(at now: Instant) -> [ConnectionID] {
    var changed: [ConnectionID] = []
    for connection in sends.keys.sorted() {
      let count = sends[connection]?.entries.count
      while let entry = sends[connection]?.removeFirst(where: { $0.isExpired(at: now) }) {
        entry.continuation?.resume(returning: .failure(.expired))
      }
      if sends[connection]?.entries.count != count { changed.append(connection) }
      if sends[connection]?.entries.isEmpty == true { sends[connection] = nil }
    }
    return changed
  }

  /// Resumes every task that waits for a connection that has ended.
  mutating func failAll(of connection: ConnectionID) {
    while let entry = sends[connection]?.popFirst() {
      entry.continuation?.resume(returning: .failure(.notConnected))
    }
    sends[connection] = nil
    let keys = receipts.keys.sorted { $0.message < $1.message }
    for key in keys where key.connection == connection { resolve(key, false) }
  }

  /// Resumes the task of a receipt with its result, or stores the result until the task waits
  /// for it.
  mutating func resolve(_ key: ReceiptKey, _ isDelivered: Bool) {
    switch receipts[key] {
    case .awaited(let continuation):
      receipts[key] = nil
      continuation.resume(returning: isDelivered)
    case .pending: receipts[key] = .resolved(isDelivered)
    case .reported: receipts[key] = nil
    case .resolved, nil: break
    }
  }

  /// Removes and returns the closure that a receipt is reported to, or returns nil if there is
  /// none.
  mutating func takeReport(_ key: ReceiptKey) -> (@Sendable () -> Void)? {
    guard case .reported(let report) = receipts[key] else { return nil }
    receipts[key] = nil
    return report
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
