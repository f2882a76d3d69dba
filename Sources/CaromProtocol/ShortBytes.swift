/// Eight bytes at most, built in a register and then written at once: the head of a frame.
struct ShortBytes {
  private var bits: UInt64 = 0
  private(set) var count = 0

  mutating func append(_ byte: UInt8) {
    precondition(count < 8, "a head has eight bytes at most")
    bits |= UInt64(byte) << UInt64(8 * count)
    count += 1
  }

  mutating func append(_ value: UInt16) {
    append(UInt8(truncatingIfNeeded: value))
    append(UInt8(value >> 8))
  }

  mutating func append(varInt value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  /// The lead byte of a message frame, and the channel's byte where it has one.
  mutating func append(channel: UInt8, mode: UInt8) {
    append(FrameByte.message(mode, channel))
    if channel >= FrameByte.channelFollows { append(channel) }
  }

  @_lifetime(output: copy output)
  func write(to output: inout OutputSpan<UInt8>) {
    for index in 0..<count { output.append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * index))) }
  }
}
