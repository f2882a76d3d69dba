import Testing

@testable import CaromCrypto

/// What a handshake promises beyond the vectors: who may take part, and what a forged message does.
struct HandshakeTests {
  private func makeKey(_ seed: UInt8) -> KeyPair {
    KeyPair(secret: SecretBytes(repeating: seed))
  }

  /// Both sides of a handshake. The initiator's static key is that of seed 1, the responder's that
  /// of seed 2.
  private func makeSides(
    _ pattern: HandshakePattern, cipher: Cipher = .chaChaPoly, prologue: [[UInt8]] = [[], []],
    codes: [SecretBytes?] = [nil, nil]
  ) -> (initiator: Handshake, responder: Handshake) {
    let knowsResponder = pattern.knowsResponder
    let initiator = Handshake(
      pattern, cipher: cipher, isInitiator: true, prologue: prologue[0], staticKey: makeKey(1),
      remoteStatic: knowsResponder ? makeKey(2).publicKey : nil, ephemeralKey: makeKey(3),
      presharedKey: codes[0])
    let responder = Handshake(
      pattern, cipher: cipher, isInitiator: false, prologue: prologue[1], staticKey: makeKey(2),
      ephemeralKey: makeKey(4), presharedKey: codes[1])
    return (initiator, responder)
  }

  @Test func `patterns are known by their names, and no others are`() {
    for name in ["XX", "IK", "XXpsk3", "NNpsk0", "XXpsk0", "NNpsk2", "KN", "KX", "IN", "IX", "XN"] {
      #expect(HandshakePattern(name)?.name == name)
    }
    for name in ["", "X", "YY", "XXpsk", "XXpsk4", "NNpsk3", "NNpsk-1", "XXpsk03", "XXPSK0", "XXX"]
    {
      #expect(HandshakePattern(name) == nil, "\(name)")
    }
  }

  @Test func `the sides take turns, and learn each other's static keys`() throws {
    var (initiator, responder) = makeSides(.xx)
    #expect(initiator.isWriting && !responder.isWriting)
    let first = try initiator.write([1])
    #expect(first.count == 32 + 1)
    #expect(!initiator.isWriting)
    #expect(try responder.read(first) == [1])
    #expect(responder.isWriting && responder.remoteStatic == nil)
    let second = try responder.write()
    #expect(second.count == 32 + 48 + 16)
    #expect(try initiator.read(second) == [])
    #expect(initiator.remoteStatic == makeKey(2).publicKey)
    #expect(!initiator.isComplete)
    let third = try initiator.write([2, 3])
    #expect(third.count == 48 + 2 + 16)
    #expect(try responder.read(third) == [2, 3])
    #expect(responder.remoteStatic == makeKey(1).publicKey)
    #expect(initiator.isComplete && responder.isComplete)
    #expect(initiator.hash == responder.hash)
  }

  @Test func `a message that was changed is rejected, and the genuine one is still accepted`()
    throws
  {
    var (initiator, responder) = makeSides(.xx)
    try exchange(from: &initiator, to: &responder)
    let message = try responder.write([5, 6])
    for index in message.indices {
      var forged = message
      forged[index] ^= 0x10
      #expect(throws: HandshakeError.notAuthentic) { try initiator.read(forged) }
    }
    for length in [0, 31, 32, 79, 95] {
      #expect(throws: (any Error).self) { try initiator.read(Array(message.prefix(length))) }
    }
    #expect(throws: HandshakeError.notAuthentic) { try initiator.read((message + [0])) }
    #expect(initiator.remoteStatic == nil)
    #expect(try initiator.read(message) == [5, 6])
  }

  @Test func `messages of the wrong length are told as such`() throws {
    var (initiator, responder) = makeSides(.xx)
    let first = try initiator.write()
    #expect(throws: HandshakeError.wrongLength) { try responder.read(Array(first.dropLast())) }
    let long = first + [UInt8](repeating: 0, count: Handshake.maximumMessage - first.count)
    #expect(throws: HandshakeError.wrongLength) { try responder.read((long + [0])) }
    var other = responder
    #expect(try other.read(long).count == long.count - 32)
    _ = try responder.read(first)
    let second = try responder.write()
    #expect(throws: HandshakeError.wrongLength) { try initiator.read(Array(second.prefix(95))) }
    #expect(throws: HandshakeError.wrongLength) { try initiator.read(Array(second.prefix(79))) }
  }

  @Test func `sides with different prologues reject each other`() throws {
    var (initiator, responder) = makeSides(.xx, prologue: [[3], [2]])
    try exchange(from: &initiator, to: &responder)
    let second = try responder.write()
    #expect(throws: HandshakeError.notAuthentic) { try initiator.read(second) }
  }

  @Test func `with a pre-shared key, the last message shows who has another one`() throws {
    for isSame in [true, false] {
      var (initiator, responder) = makeSides(
        .xxpsk3, codes: [nil, SecretBytes(repeating: isSame ? 7 : 8)])
      try exchange(from: &initiator, to: &responder)
      try exchange(from: &responder, to: &initiator)
      initiator.presharedKey = SecretBytes(repeating: 7)
      let third = try initiator.write([9])
      if isSame {
        #expect(try responder.read(third) == [9])
      } else {
        #expect(throws: HandshakeError.wrongPresharedKey) { try responder.read(third) }
        // Somebody who has not even sent the first message shows nothing about the key.
        var forged = third
        forged[0] ^= 1
        #expect(throws: HandshakeError.notAuthentic) { try responder.read(forged) }
      }
    }
  }

  @Test func `a public key that shares no secret is rejected`() throws {
    // The points of small order that X25519 maps to zero (RFC 7748 §6.1).
    for low in [UInt8(0), 1] {
      var (_, responder) = makeSides(.ik)
      let message = [low] + [UInt8](repeating: 0, count: 31 + 48 + 16)
      #expect(throws: HandshakeError.weakKey) { try responder.read(message) }
    }
  }

  @Test(arguments: Cipher.allCases.filter(\.isAvailable))
  func `the known host alone reads the first message of IK`(_ cipher: Cipher) throws {
    var (initiator, responder) = makeSides(.ik, cipher: cipher)
    let first = try initiator.write([1, 2, 3])
    #expect(first.count == 32 + 48 + 3 + 16)
    #expect(try responder.read(first) == [1, 2, 3])
    #expect(responder.remoteStatic == makeKey(1).publicKey)
    var stranger = Handshake(
      .ik, cipher: cipher, isInitiator: false, staticKey: makeKey(5), ephemeralKey: makeKey(4))
    #expect(throws: HandshakeError.notAuthentic) { try stranger.read(first) }
  }

  private func exchange(from sender: inout Handshake, to receiver: inout Handshake) throws {
    let message = try sender.write()
    _ = try receiver.read(message)
  }
}

extension Handshake {
  fileprivate mutating func read(_ message: [UInt8]) throws -> [UInt8] { try read(message.span) }
}
