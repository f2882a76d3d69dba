/// The secrets that both sides of a Noise handshake derive in step: everything mixed in by one side
/// must be mixed in by the other, or no later message can be decrypted (revision 34, section 5.2).
struct SymmetricState: Sendable {
  /// A hash of everything that both sides have seen. It is the associated data of each encrypted
  /// part, and identifies the handshake once that is complete.
  private(set) var hash: [UInt8]
  private var chainingKey: SecretBytes
  /// The key for the encrypted parts of messages; nil until the first key has been mixed in.
  private var key: TransportKey?
  /// The number of parts encrypted or decrypted with `key`.
  private var number: UInt64 = 0
  let cipher: Cipher

  /// Creates the state for the pattern named `pattern`.
  init(pattern: String, cipher: Cipher) {
    let name = Array("Noise_\(pattern)_25519_\(cipher.name)_BLAKE2b".utf8)
    // All names are shorter than a hash. Noise pads such a name with zeros instead of hashing it.
    let start = name + [UInt8](repeating: 0, count: BLAKE2b.length - name.count)
    hash = start
    chainingKey = SecretBytes(copying: start.span)
    self.cipher = cipher
  }

  mutating func mixHash(_ bytes: [UInt8]) {
    hash = BLAKE2b.hash(hash + bytes)
  }

  mutating func mixKey(_ secret: SecretBytes) {
    let keys = BLAKE2b.deriveKeys(chainingKey, secret, count: 2)
    chainingKey = keys[0]
    setKey(keys[1])
  }

  /// Mixes a pre-shared key into the chaining key, the hash and the key for messages.
  mutating func mixKeyAndHash(_ secret: SecretBytes) {
    let keys = BLAKE2b.deriveKeys(chainingKey, secret, count: 3)
    chainingKey = keys[0]
    mixHash(keys[1].reveal())
    setKey(keys[2])
  }

  private mutating func setKey(_ secret: SecretBytes) {
    key = TransportKey(secret.prefix(Cipher.keyLength), cipher)
    number = 0
  }

  /// The number of bytes by which an encrypted part is longer than its content.
  var overhead: Int { key == nil ? 0 : Cipher.tagLength }

  /// Appends `plain` to `message`, encrypted if a key has been mixed in, and mixes the appended
  /// bytes into `hash`.
  mutating func encrypt(_ plain: [UInt8], into message: inout [UInt8]) {
    var part = plain
    if let key {
      part = hash + plain
      key.seal(&part, head: hash.count, number: number)
      part.removeFirst(hash.count)
      number += 1
    }
    mixHash(part)
    message += part
  }

  /// Returns the content of `part`, decrypted if a key has been mixed in, and mixes `part` into
  /// `hash`. Throws `notAuthentic` if `part` was changed on its way or encrypted by a side whose
  /// key or hash differs.
  mutating func decrypt(_ part: [UInt8]) throws(HandshakeError) -> [UInt8] {
    var plain = part
    if let key {
      plain = []
      guard key.open((hash + part).span, head: hash.count, number: number, into: &plain) else {
        throw .notAuthentic
      }
      number += 1
    }
    mixHash(part)
    return plain
  }

  /// Returns two keys for `cipher` and a secret. The keys are for the messages after the handshake:
  /// the first for those that the initiator sends, the second for those that the responder sends.
  /// The secret is for all other purposes for which only the two sides may know it; the keys do not
  /// depend on it.
  func split(
    _ cipher: Cipher
  ) -> (initiator: TransportKey, responder: TransportKey, secret: SecretBytes) {
    let nothing = SecretBytes(copying: [UInt8]().span)
    let secrets = BLAKE2b.deriveKeys(chainingKey, nothing, count: 3)
    let keys = secrets.prefix(2).map { TransportKey($0.prefix(Cipher.keyLength), cipher) }
    return (keys[0], keys[1], secrets[2].prefix(Cipher.keyLength))
  }
}
