import CaromProtocol

/// What a receipt is told under.
struct ReceiptName: Hashable, Sendable {
  let link: ConnectionID
  let message: UInt64
}

/// What is known of a message whose sender wants to hear of it.
enum Receipt: Sendable {
  /// It left, and its task has not gone on yet.
  case open
  /// What became of it, before its task went on.
  case told(Bool)
  case awaited(CheckedContinuation<Bool, Never>)
}
