/// What the wire says of a message's delivery; its number stands in the frame's first byte.
package enum MessageMode: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
  /// May be lost, and comes in any order. It alone has no number.
  case unreliable = 0
  /// May be lost; an older one never comes after a newer one.
  case unreliableSequenced = 1
  /// Comes once, in the order of sending.
  case reliableOrdered = 2
  /// Comes once, in any order.
  case reliableUnordered = 3
  /// The newest comes for certain; one that was overtaken may be left out.
  case reliableSequenced = 4

  /// Whether it is sent again until it is acknowledged.
  package var isReliable: Bool { rawValue >= Self.reliableOrdered.rawValue }
  /// Whether its frame carries a number.
  package var isNumbered: Bool { self != .unreliable }
}
