/// A Base64 encoding of bytes as text (RFC 4648).
package struct Base64: Sendable {
  /// The encoding with "+" and "/", padded with "=" (RFC 4648 §4).
  package static let standard = Base64("+/", isPadded: true)
  /// The encoding with "-" and "_", without padding, for addresses and file names (RFC 4648 §5).
  package static let url = Base64("-_", isPadded: false)

  private static let pad = UInt8(ascii: "=")
  private let alphabet: [UInt8]
  private let isPadded: Bool

  private init(_ last: String, isPadded: Bool) {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    alphabet = Array(letters.utf8) + last.utf8
    self.isPadded = isPadded
  }

  /// Returns the number of characters for `count` bytes.
  package func length(of count: Int) -> Int {
    isPadded ? (count + 2) / 3 * 4 : (4 * count + 2) / 3
  }

  /// Returns the text for `bytes`.
  package func text(of bytes: [UInt8]) -> String {
    var characters: [UInt8] = []
    characters.reserveCapacity(length(of: bytes.count))
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for byte in bytes {
      bits = (bits << 8 | UInt32(byte)) & 0xFFFF
      count += 8
      while count >= 6 {
        count -= 6
        characters.append(alphabet[Int(bits >> count & 0x3F)])
      }
    }
    if count > 0 { characters.append(alphabet[Int(bits << (6 - count) & 0x3F)]) }
    while characters.count < length(of: bytes.count) { characters.append(Self.pad) }
    return String(decoding: characters, as: UTF8.self)
  }

  /// Returns the bytes that `text`, in UTF-8, encodes. Returns nil unless `text(of:)` returns
  /// exactly this text for them.
  package func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
    let digits = isPadded ? text.prefix { $0 != Self.pad } : text[...]
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count * 3 / 4)
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for character in digits {
      guard let value = alphabet.firstIndex(of: character) else { return nil }
      bits = (bits << 6 | UInt32(value)) & 0xFFFF
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    // One character alone is no byte, and the bits after the last byte are zeros.
    guard count < 6, bits & (1 << count - 1) == 0 else { return nil }
    let padding = text.dropFirst(digits.count)
    guard digits.count + padding.count == length(of: bytes.count),
      padding.allSatisfy({ $0 == Self.pad })
    else { return nil }
    return bytes
  }
}
