/// What a channel promises for its messages.
public enum Delivery: Hashable, Sendable {
  /// Each message arrives once, in the order of sending.
  case reliableOrdered
  /// The newest message counts: one that has not left yet is replaced by the next,
  /// and an older one never comes after a newer one.
  case unreliableSequenced
}
