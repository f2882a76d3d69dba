/// How long an acknowledgement was held back, in one byte: three bits of exponent and five of
/// mantissa, in units of 16 µs. The largest byte says "that long or longer".
package struct AckDelay: Hashable, Sendable {
  /// The byte as it goes on the wire.
  package var byte: UInt8

  /// Nanoseconds in one unit.
  package static let unit: Int64 = 16_000
  /// "As long as this or longer", about 129 ms.
  package static let longest = AckDelay(byte: 255)

  package init(byte: UInt8) { self.byte = byte }

  /// The longest hold time that is not over `nanoseconds`, so that no round trip comes out shorter
  /// than it was.
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

  /// The hold time in nanoseconds.
  package var nanoseconds: Int64 {
    (Int64(32 + (byte & 31)) &<< Int64(byte &>> 5) - 32) * Self.unit
  }
}
