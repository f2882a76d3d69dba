/// What a channel promises for its messages.
public enum Delivery: Hashable, Sendable, CaseIterable {
  /// Each message arrives once, in the order of sending.
  case reliableOrdered
  /// Each message arrives once, as soon as it has come, in any order.
  case reliableUnordered
  /// The newest message arrives for certain; what it overtook may be left out, and an older one
  /// never comes after a newer one. At most 64 KiB.
  case reliableSequenced
  /// A message may be lost, and comes in any order. At most 64 KiB.
  case unreliable
  /// The newest message counts: one that has not left yet is replaced by the next, one may be lost,
  /// and an older one never comes after a newer one. At most 64 KiB.
  case unreliableSequenced

  package var mode: MessageMode {
    switch self {
    case .reliableOrdered: .reliableOrdered
    case .reliableUnordered: .reliableUnordered
    case .reliableSequenced: .reliableSequenced
    case .unreliable: .unreliable
    case .unreliableSequenced: .unreliableSequenced
    }
  }
}
