/// The reasons why a handshake message is rejected.
package enum HandshakeError: Error, Hashable {
  /// The message is shorter than the keys that it must contain, or longer than 65,535 bytes.
  case wrongLength
  /// The message was changed on its way, or the peer does not have the keys that it should have.
  case notAuthentic
  /// The part of the message that depends on the pre-shared key is not authentic, but everything
  /// before it is: the peer has a different pre-shared key, or somebody has changed that part.
  case wrongPresharedKey
  /// The peer sent a public key with which no secret can be shared.
  case weakKey
}

/// One side's state of a handshake of the Noise Protocol Framework, revision 34, over Curve25519
/// and BLAKE2b. The handshake authenticates the static keys and derives keys that only the two
/// sides know.
///
/// The sides take turns: the initiator writes the first message and reads the second. A message
/// that is rejected changes nothing, so that a forged one does not end the handshake.
package struct Handshake: Sendable {
  /// The maximum length of a message in bytes.
  package static let maximumMessage = 65_535

  private let pattern: HandshakePattern
  private let isInitiator: Bool
  private let staticKey: KeyPair?
  /// The key pair that was made for this handshake. It must be set before this side writes a
  /// message, so that a responder can first find out whether the first message is authentic.
  package var ephemeralKey: KeyPair?
  private var symmetric: SymmetricState
  private var remoteEphemeral: PublicKey?
  /// The number of messages that have been written and read.
  private var messageCount = 0

  /// The peer's static public key; nil if it is not known yet or the peer has none.
  package private(set) var remoteStatic: PublicKey?
  /// The pre-shared key of 32 bytes. It must be set before the message in which the pattern uses it
  /// is written or read.
  package var presharedKey: SecretBytes?

  /// Creates one side's state.
  ///
  /// - Parameters:
  ///   - pattern: The pattern, which is the same on both sides.
  ///   - cipher: The cipher, which is the same on both sides.
  ///   - isInitiator: Whether this side writes the first message.
  ///   - prologue: What both sides already know. If it differs, the handshake fails.
  ///   - staticKey: This side's static key, if the pattern gives it one.
  ///   - remoteStatic: The peer's static key, if the pattern requires that this side knows it.
  ///   - ephemeralKey: A key pair that was made for this handshake and is never used again; nil if
  ///     it is set later.
  ///   - presharedKey: The pre-shared key, if it is known already.
  package init(
    _ pattern: HandshakePattern, cipher: Cipher, isInitiator: Bool, prologue: [UInt8] = [],
    staticKey: KeyPair? = nil, remoteStatic: PublicKey? = nil, ephemeralKey: KeyPair? = nil,
    presharedKey: SecretBytes? = nil
  ) {
    self.pattern = pattern
    self.isInitiator = isInitiator
    self.staticKey = staticKey
    self.remoteStatic = remoteStatic
    self.ephemeralKey = ephemeralKey
    self.presharedKey = presharedKey
    symmetric = SymmetricState(pattern: pattern.name, cipher: cipher)
    symmetric.mixHash(prologue)
    if pattern.knowsInitiator { symmetric.mixHash(key(ofInitiator: true).bytes) }
    if pattern.knowsResponder { symmetric.mixHash(key(ofInitiator: false).bytes) }
  }

  /// Returns the static public key of one side, which the pattern requires this side to know.
  private func key(ofInitiator: Bool) -> PublicKey {
    guard let key = ofInitiator == isInitiator ? staticKey?.publicKey : remoteStatic else {
      preconditionFailure("the pattern \(pattern.name) requires both sides to know a static key")
    }
    return key
  }

  /// Whether the pattern is `nnpsk0`, with which a pre-shared key proves both sides.
  package var usesToken: Bool { pattern == .nnpsk0 }

  /// Whether all messages have been written and read.
  package var isComplete: Bool { messageCount == pattern.messages.count }

  /// Whether it is this side's turn to write.
  package var isWriting: Bool { !isComplete && (messageCount % 2 == 0) == isInitiator }

  /// A hash of everything that both sides have seen. Once the handshake is complete, both sides
  /// have the same hash, and no third party can have chosen any part of it (channel binding,
  /// section 11.2).
  package var hash: [UInt8] { symmetric.hash }

  /// Returns the keys for the messages after the handshake, for `cipher` or, if it is nil, for the
  /// cipher of the handshake.
  package func makeTransportKeys(
    for cipher: Cipher? = nil
  ) -> (sending: TransportKey, receiving: TransportKey) {
    precondition(isComplete, "the handshake is not complete")
    let keys = symmetric.split(cipher ?? symmetric.cipher)
    return isInitiator ? (keys.initiator, keys.responder) : (keys.responder, keys.initiator)
  }

  /// Returns a secret of 32 bytes that only the two sides know, for purposes other than messages.
  package func makeSecret() -> SecretBytes {
    precondition(isComplete, "the handshake is not complete")
    return symmetric.split(symmetric.cipher).secret
  }
}

// MARK: - Messages
extension Handshake {
  /// Returns this side's next message, with `payload` in it. The payload is only as secret as the
  /// pattern makes it at this point; for example, the payload of the first message of `xx` is not
  /// encrypted.
  package mutating func write(_ payload: [UInt8] = []) throws(HandshakeError) -> [UInt8] {
    precondition(isWriting, "it is the peer's turn to write")
    var next = self
    var message: [UInt8] = []
    for token in pattern.messages[messageCount] {
      switch token {
      case .e:
        guard let key = ephemeralKey?.publicKey else {
          preconditionFailure("a message needs the ephemeral key of the side that writes it")
        }
        message += key.bytes
        next.mixEphemeral(key)
      case .s: next.symmetric.encrypt(key(ofInitiator: isInitiator).bytes, into: &message)
      default: try next.mixSecret(token)
      }
    }
    precondition(
      message.count + payload.count + next.symmetric.overhead <= Self.maximumMessage,
      "a handshake message must have at most 65,535 bytes")
    next.symmetric.encrypt(payload, into: &message)
    next.messageCount += 1
    self = next
    return message
  }

  /// Reads the peer's next message, and returns the payload in it.
  package mutating func read(_ message: Span<UInt8>) throws(HandshakeError) -> [UInt8] {
    precondition(!isComplete && !isWriting, "it is this side's turn to write")
    guard message.count <= Self.maximumMessage else { throw .wrongLength }
    var next = self
    var offset = 0
    func take(_ count: Int) throws(HandshakeError) -> [UInt8] {
      guard count <= message.count - offset else { throw .wrongLength }
      defer { offset += count }
      return (offset..<offset + count).map { message[$0] }
    }
    var failure = HandshakeError.notAuthentic
    for token in pattern.messages[messageCount] {
      switch token {
      case .e:
        let bytes = try take(PublicKey.length)
        let key = PublicKey(bytes.span)!
        next.remoteEphemeral = key
        next.mixEphemeral(key)
      case .s:
        let part = try take(PublicKey.length + next.symmetric.overhead)
        let bytes = try next.symmetric.decrypt(part)
        next.remoteStatic = PublicKey(bytes.span)
      default:
        try next.mixSecret(token)
        if token == .psk { failure = .wrongPresharedKey }
      }
    }
    guard message.count - offset >= next.symmetric.overhead else { throw .wrongLength }
    let rest = try take(message.count - offset)
    let payload: [UInt8]
    do throws(HandshakeError) { payload = try next.symmetric.decrypt(rest) } catch { throw failure }
    next.messageCount += 1
    self = next
    return payload
  }

  private mutating func mixEphemeral(_ key: PublicKey) {
    symmetric.mixHash(key.bytes)
    // With a pre-shared key, the ephemeral key randomizes the keys of the first message (9.2).
    if pattern.usesPresharedKey { symmetric.mixKey(SecretBytes(copying: key.bytes.span)) }
  }

  /// Mixes in the secret that `token` stands for, which must not be `e` or `s`.
  private mutating func mixSecret(_ token: HandshakePattern.Token) throws(HandshakeError) {
    switch token {
    case .e, .s: preconditionFailure("public keys are sent, not mixed in alone")
    case .psk:
      guard let presharedKey, presharedKey.count == 32 else {
        preconditionFailure("the pattern \(pattern.name) needs a pre-shared key of 32 bytes")
      }
      symmetric.mixKeyAndHash(presharedKey)
    case .ee: try mix(ephemeralKey, remoteEphemeral)
    case .ss: try mix(staticKey, remoteStatic)
    case .es: try isInitiator ? mix(ephemeralKey, remoteStatic) : mix(staticKey, remoteEphemeral)
    case .se: try isInitiator ? mix(staticKey, remoteEphemeral) : mix(ephemeralKey, remoteStatic)
    }
  }

  private mutating func mix(_ own: KeyPair?, _ other: PublicKey?) throws(HandshakeError) {
    guard let own, let other else {
      preconditionFailure("the pattern \(pattern.name) needs a static key that was not given")
    }
    guard let secret = own.sharedSecret(with: other) else { throw .weakKey }
    symmetric.mixKey(secret)
  }
}
