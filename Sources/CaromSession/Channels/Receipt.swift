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
