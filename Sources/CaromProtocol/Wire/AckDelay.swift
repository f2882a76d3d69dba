/// The delay of an acknowledgement, encoded in one byte: three bits of exponent and five of
/// mantissa, in units of 16 µs. The largest byte means "this long or longer".
package struct AckDelay: Hashable, Sendable, BitwiseCopyable {
  /// The encoded delay: the exponent in the upper three bits, the mantissa in the lower five.
  package var byte: UInt8

  /// The unit of encoded delays in nanoseconds: 16 µs.
  private static let unit: Int64 = 16_000
  /// The longest delay that can be encoded; it means "about 129 ms or longer".
  package static let longest = AckDelay(byte: 255)

  package init(byte: UInt8) { self.byte = byte }

  /// Creates the longest encodable delay that does not exceed `nanoseconds`. Rounding down ensures
  /// that no round-trip time is measured as shorter than it was.
  package init(nanoseconds: Int64) {
    guard nanoseconds > 0 else {
      byte = 0
      return
    }
    guard nanoseconds < Self.longest.nanoseconds else {
      self = .longest
      return
    }
    let units = UInt64(nanoseconds / Self.unit) + 32  // 32 ... 8,063
    let exponent = UInt64(58 - units.leadingZeroBitCount)
    byte = UInt8(exponent &<< 5 | (units &>> exponent - 32))
  }

  /// The delay in nanoseconds.
  package var nanoseconds: Int64 {
    (Int64(32 + (byte & 31)) &<< Int64(byte &>> 5) - 32) * Self.unit
  }
}
