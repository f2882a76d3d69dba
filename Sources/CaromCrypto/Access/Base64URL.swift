/// The base64url encoding of bytes (RFC 4648 §5) as letters, digits, "-" and "_", without padding.
enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Returns the number of characters for `count` bytes.
  static func length(of count: Int) -> Int { (4 * count + 2) / 3 }

  static func text(of bytes: [UInt8]) -> String {
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
    return String(decoding: characters, as: UTF8.self)
  }

  /// Returns the bytes that `text` encodes. Returns nil unless `text(of:)` returns exactly `text`
  /// for these bytes.
  static func bytes(of text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for character in text.utf8 {
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
    return bytes
  }
}
