/// Eight bytes at most, built in a register and then written at once: the head of a frame.
struct ShortBytes {
  private(set) var bits: UInt64 = 0
  private(set) var count = 0

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    assert(count < 8, "a head has eight bytes at most")
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

  /// The lead byte of a message frame, and the channel's byte where it has one.
  @inline(__always)
  mutating func append(channel: UInt8, mode: UInt8) {
    append(FrameByte.message(mode, channel))
    if channel >= FrameByte.channelFollows { append(channel) }
  }
}
