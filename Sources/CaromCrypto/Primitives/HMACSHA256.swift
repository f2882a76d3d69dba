import CSodium

/// HMAC with the hash function SHA-256 (RFC 2104, FIPS 180-4), which authenticates messages to
/// name servers (RFC 8945).
public enum HMACSHA256 {
  /// The length of a code, in bytes.
  public static let codeLength = 32

  /// Returns a function that computes the 32-byte code of a message with `secret`, which may have
  /// any length. The function keeps the only copy of the secret.
  public static func authenticator(
    secret: [UInt8]
  ) -> @Sendable (_ message: [UInt8]) -> [UInt8] {
    let secret = SecretBytes(copying: secret.span)
    return { message in code(of: message, secret) }
  }

  static func code(of message: [UInt8], _ secret: SecretBytes) -> [UInt8] {
    var state = crypto_auth_hmacsha256_state()
    var code = [UInt8](repeating: 0, count: codeLength)
    unsafe secret.withUnsafeBytes { secretBytes in
      _ = unsafe crypto_auth_hmacsha256_init(&state, secretBytes, secret.count)
    }
    unsafe message.withUnsafeBufferPointer { bytes in
      _ = unsafe crypto_auth_hmacsha256_update(&state, bytes.baseAddress, UInt64(bytes.count))
    }
    unsafe code.withUnsafeMutableBufferPointer { output in
      _ = unsafe crypto_auth_hmacsha256_final(&state, output.baseAddress!)
    }
    unsafe withUnsafeMutableBytes(of: &state) { unsafe sodium_memzero($0.baseAddress!, $0.count) }
    return code
  }
}
