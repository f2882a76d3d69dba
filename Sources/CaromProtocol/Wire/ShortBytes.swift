/// The first bytes of a frame or packet, at most eight, assembled in a register and then written
/// together.
struct ShortBytes {
  static let maximumCount = 8

  private(set) var bits: UInt64 = 0
  private(set) var count = 0

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    assert(count < 8, "a head must have at most eight bytes")
    bits |= UInt64(byte) &<< UInt64(truncatingIfNeeded: 8 &* count)
    count &+= 1
  }

  @inline(__always)
  mutating func append(_ value: UInt16) {
    append(UInt8(truncatingIfNeeded: value))
    append(UInt8(truncatingIfNeeded: value &>> 8))
  }

  mutating func append(varInt value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest &>>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends the first byte of a message frame and, for channel 15 and above, the channel's byte.
  @inline(__always)
  mutating func append(channel: UInt8, mode: UInt8) {
    append(FrameByte.message(mode, channel))
    if channel >= FrameByte.channelFollows { append(channel) }
  }
}
