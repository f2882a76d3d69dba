import CSodium

/// The group ristretto255 (RFC 9496): elements of prime order, each with one encoding of 32 bytes.
enum Ristretto255 {
  /// The length in bytes of an element's and of a scalar's encoding.
  static let length = 32

  /// Returns the element that 64 uniformly distributed bytes are mapped to (RFC 9496 §4.3.4).
  static func element(from hash: [UInt8]) -> [UInt8] {
    precondition(hash.count == 64, "an element is made from 64 bytes")
    return unsafe [UInt8](unsafeUninitializedCapacity: length) { output, count in
      unsafe hash.withUnsafeBufferPointer { hash in
        _ = unsafe crypto_core_ristretto255_from_hash(output.baseAddress!, hash.baseAddress!)
      }
      count = length
    }
  }

  /// Returns the scalar that 64 random bytes are reduced to.
  static func scalar(from bytes: SecretBytes) -> SecretBytes {
    precondition(bytes.count == 64, "a scalar is made from 64 bytes")
    return unsafe SecretBytes(count: length) { output in
      unsafe bytes.withUnsafeBytes { unsafe crypto_core_ristretto255_scalar_reduce(output, $0) }
    }
  }

  /// Returns the element multiplied by the scalar. Returns nil if `element` is not the encoding of
  /// an element, or if the product is the identity.
  static func multiply(_ element: [UInt8], by scalar: SecretBytes) -> SecretBytes? {
    guard element.count == length else { return nil }
    precondition(scalar.count == length, "a scalar has 32 bytes")
    var isValid = false
    let product = unsafe SecretBytes(count: length) { output in
      unsafe scalar.withUnsafeBytes { scalar in
        unsafe element.withUnsafeBufferPointer { element in
          isValid = unsafe crypto_scalarmult_ristretto255(output, scalar, element.baseAddress!) == 0
        }
      }
    }
    return isValid ? product : nil
  }
}
