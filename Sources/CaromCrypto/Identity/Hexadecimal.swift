/// The encoding of bytes as hexadecimal digits in ASCII. The digits are byte arrays, because a
/// string that contains a secret could not be overwritten.
package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Returns two lower-case digits for each byte.
  package static func digits(of bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }
  }

  /// Returns the bytes that `digits` encodes, or nil unless it consists of exactly `2 * count`
  /// hexadecimal digits in upper or lower case.
  package static func bytes(of digits: some Collection<UInt8>, count: Int) -> [UInt8]? {
    guard digits.count == 2 * count else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    var high: UInt8?
    for digit in digits {
      guard let value = value(of: digit) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
