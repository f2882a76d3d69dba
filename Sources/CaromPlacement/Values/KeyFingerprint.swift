import CaromCrypto

/// Eight bytes by which those who have a backend key know others who have the same one. They tell
/// nothing of the key, and are no secret.
package struct KeyFingerprint: Hashable, Sendable {
  /// The length in bytes.
  package static let length = 8
  private static let label = Array("carom backend key fingerprint".utf8)

  private let bits: UInt64

  /// Creates the fingerprint of a key: the beginning of the HMAC-BLAKE2b of a label under the key's
  /// hexadecimal digits.
  init(of key: BackendKey) {
    let bytes = key.hexadecimal.authenticate(Self.label, length: Self.length).reveal()
    bits = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Reads a fingerprint from 16 hexadecimal digits in lowercase. Returns nil for anything else.
  package init?(_ text: String) {
    guard let bits = UInt64(text, radix: 16) else { return nil }
    self.bits = bits
    guard description == text else { return nil }
  }
}

extension KeyFingerprint: CustomStringConvertible {
  /// The fingerprint as 16 hexadecimal digits.
  package var description: String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: 2 * Self.length - digits.utf8.count) + digits
  }
}

extension BackendKey {
  /// The key's fingerprint.
  package var fingerprint: KeyFingerprint { KeyFingerprint(of: self) }
}
