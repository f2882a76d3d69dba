/// A set of application channels (0 to 63), one bit each.
package struct ChannelMask: Hashable, Sendable {
  package var bits: UInt64

  package init(bits: UInt64 = 0) { self.bits = bits }

  /// The set of all application channels.
  package static let all = ChannelMask(bits: .max)

  package var isEmpty: Bool { bits == 0 }
  /// The set of all application channels that this set does not contain.
  package var inverted: ChannelMask { ChannelMask(bits: ~bits) }

  package func contains(_ channel: UInt8) -> Bool { channel < 64 && bits >> channel & 1 == 1 }

  package mutating func insert(_ channel: UInt8) { bits |= 1 << UInt64(channel) }

  /// Removes and returns the lowest channel, or returns nil if the set is empty.
  package mutating func popFirst() -> UInt8? {
    guard bits != 0 else { return nil }
    defer { bits &= bits - 1 }
    return UInt8(bits.trailingZeroBitCount)
  }

  package mutating func remove(_ channel: UInt8) { bits &= ~(1 << UInt64(channel)) }
}
