import CaromCrypto
import Testing

/// A published vector of a whole Noise handshake, with the messages after it.
struct HandshakeVector: Decodable, CustomTestStringConvertible {
  struct Message: Decodable {
    var payload: HexBytes
    var ciphertext: HexBytes
  }

  var protocolName: String
  var initPrologue: HexBytes
  var initEphemeral: HexBytes
  var initStatic: HexBytes?
  var initRemoteStatic: HexBytes?
  var initPsks: [HexBytes]?
  var respPrologue: HexBytes
  var respEphemeral: HexBytes
  var respStatic: HexBytes?
  var respRemoteStatic: HexBytes?
  var respPsks: [HexBytes]?
  var handshakeHash: HexBytes
  var messages: [Message]

  var testDescription: String { protocolName }

  /// The pattern, or nil if the vector is of a protocol that Carom does not have: with another
  /// curve, another hash or several pre-shared keys, or in one direction only.
  var pattern: HandshakePattern? {
    let parts = protocolName.split(separator: "_").map(String.init)
    guard parts.count == 5, parts[2] == "25519", parts[4] == "BLAKE2b",
      ["AESGCM", "ChaChaPoly"].contains(parts[3])
    else { return nil }
    return HandshakePattern(parts[1])
  }
  var cipher: Cipher { protocolName.contains("AESGCM") ? .aesGCM : .chaChaPoly }

  func makeInitiator(_ pattern: HandshakePattern) -> Handshake {
    Handshake(
      pattern, cipher: cipher, isInitiator: true, prologue: initPrologue.bytes,
      staticKey: initStatic.map { KeyPair(secret: $0.secret) },
      remoteStatic: initRemoteStatic.flatMap { PublicKey($0.bytes.span) },
      ephemeralKey: KeyPair(secret: initEphemeral.secret), presharedKey: initPsks?.first?.secret)
  }

  func makeResponder(_ pattern: HandshakePattern) -> Handshake {
    Handshake(
      pattern, cipher: cipher, isInitiator: false, prologue: respPrologue.bytes,
      staticKey: respStatic.map { KeyPair(secret: $0.secret) },
      remoteStatic: respRemoteStatic.flatMap { PublicKey($0.bytes.span) },
      ephemeralKey: KeyPair(secret: respEphemeral.secret), presharedKey: respPsks?.first?.secret)
  }

  static let files = CryptoVectors<HandshakeVector>(
    withField: "protocol_name", from: "noise_vectors.json")
}

/// Noise Protocol Framework, revision 34, against published vectors.
struct HandshakeVectorTests {
  @Test func `all vectors are read`() {
    #expect(HandshakeVector.files.problems == [])
    #expect(HandshakeVector.files.vectors.count { $0.pattern != nil } >= 28)
  }

  @Test(arguments: HandshakeVector.files.vectors)
  func `both sides write and read each message of a vector`(_ vector: HandshakeVector) throws {
    guard vector.cipher.isAvailable else {
      try Test.cancel("this processor has no instructions for AES")
    }
    guard let pattern = vector.pattern else {
      try Test.cancel("Carom does not have this protocol")
    }
    var initiator = vector.makeInitiator(pattern)
    var responder = vector.makeResponder(pattern)
    var handshakeMessages = 0
    for message in vector.messages {
      guard !initiator.isComplete else { break }
      handshakeMessages += 1
      if initiator.isWriting {
        #expect(try initiator.write(message.payload.bytes) == message.ciphertext.bytes)
        #expect(try responder.read(message.ciphertext.bytes.span) == message.payload.bytes)
      } else {
        #expect(try responder.write(message.payload.bytes) == message.ciphertext.bytes)
        #expect(try initiator.read(message.ciphertext.bytes.span) == message.payload.bytes)
      }
    }
    #expect(initiator.isComplete && responder.isComplete)
    #expect(initiator.hash == vector.handshakeHash.bytes)
    #expect(responder.hash == vector.handshakeHash.bytes)
    #expect(initiator.remoteStatic?.bytes == vector.respStatic.map { key($0) })
    #expect(responder.remoteStatic?.bytes == vector.initStatic.map { key($0) })

    let sides = [initiator.makeTransportKeys(), responder.makeTransportKeys()]
    var numbers: [UInt64] = [0, 0]
    for (index, message) in vector.messages.enumerated().dropFirst(handshakeMessages) {
      let sender = index % 2
      var sealed = message.payload.bytes
      sides[sender].sending.seal(&sealed, head: 0, number: numbers[sender])
      #expect(sealed == message.ciphertext.bytes)
      var opened: [UInt8] = []
      let isAuthentic = sides[1 - sender].receiving.open(
        message.ciphertext.bytes.span, head: 0, number: numbers[sender], into: &opened)
      #expect(isAuthentic && opened == message.payload.bytes)
      numbers[sender] += 1
    }
  }

  private func key(_ secret: HexBytes) -> [UInt8] { KeyPair(secret: secret.secret).publicKey.bytes }
}
