import Testing

@testable import CaromCrypto

/// A published vector of CPace with ristretto255 and SHA-512.
struct PasswordVector: Decodable {
  var suite: String
  var password, channel, sessionID, generator, key: HexBytes
  var initiatorScalar, initiatorData, initiatorShare: HexBytes
  var responderScalar, responderData, responderShare: HexBytes

  private enum CodingKeys: String, CodingKey {
    case suite, generator
    case password = "prs"
    case channel = "ci"
    case sessionID = "sid"
    case initiatorScalar = "ya"
    case initiatorData = "ada"
    case initiatorShare = "Ya"
    case responderScalar = "yb"
    case responderData = "adb"
    case responderShare = "Yb"
    case key = "iskIr"
  }

  static let files = CryptoVectors<PasswordVector>(withField: "suite", from: "cpace_vectors.json")

  func makeSide(isInitiator: Bool, password: SecretBytes? = nil) -> PasswordExchange {
    PasswordExchange(
      password: password ?? self.password.secret, channel: channel.bytes,
      sessionID: sessionID.bytes,
      associatedData: isInitiator ? initiatorData.bytes : responderData.bytes,
      isInitiator: isInitiator,
      scalar: (isInitiator ? initiatorScalar : responderScalar).secret)
  }
}

/// draft-irtf-cfrg-cpace-21, appendix B.3, and what a password exchange promises beyond it.
struct PasswordExchangeTests {
  private let vector: PasswordVector

  init() throws { vector = try #require(PasswordVector.files.vectors.first) }

  @Test func `all vectors are read`() {
    #expect(PasswordVector.files.problems == [])
    #expect(PasswordVector.files.vectors.contains { $0.suite == "CPACE-RISTR255-SHA512" })
  }

  @Test(arguments: PasswordVector.files.vectors.indices)
  func `both sides derive the key of a vector`(_ index: Int) throws {
    let vector = PasswordVector.files.vectors[index]
    guard vector.suite == "CPACE-RISTR255-SHA512" else {
      try Test.cancel("Carom does not have the suite \(vector.suite)")
    }
    #expect(
      PasswordExchange.makeGenerator(
        vector.password.secret, channel: vector.channel.bytes, sessionID: vector.sessionID.bytes)
        == vector.generator.bytes)
    let initiator = vector.makeSide(isInitiator: true)
    let responder = vector.makeSide(isInitiator: false)
    #expect(initiator.share == vector.initiatorShare.bytes)
    #expect(responder.share == vector.responderShare.bytes)
    let keys = [
      initiator.makeKey(share: responder.share, associatedData: vector.responderData.bytes),
      responder.makeKey(share: initiator.share, associatedData: vector.initiatorData.bytes),
    ]
    #expect(keys.map { $0?.reveal() } == [vector.key.bytes, vector.key.bytes])
  }

  @Test func `another password, associated data or share gives another key`() {
    let initiator = vector.makeSide(isInitiator: true)
    let expected = initiator.makeKey(
      share: vector.responderShare.bytes, associatedData: vector.responderData.bytes)
    let other = vector.makeSide(
      isInitiator: true, password: SecretBytes(Array("Passwort".utf8)))
    #expect(other.share != initiator.share)
    #expect(
      other.makeKey(share: vector.responderShare.bytes, associatedData: vector.responderData.bytes)
        != expected)
    #expect(
      initiator.makeKey(
        share: vector.responderShare.bytes, associatedData: vector.initiatorData.bytes) != expected)
    #expect(
      initiator.makeKey(
        share: vector.initiatorShare.bytes, associatedData: vector.responderData.bytes) != expected)
  }

  @Test func `shares that are no group element, and the identity, are refused`() {
    let side = vector.makeSide(isInitiator: true)
    #expect(side.makeKey(share: [UInt8](repeating: 0, count: 32)) == nil)  // the identity
    #expect(side.makeKey(share: [UInt8](repeating: 0xFF, count: 32)) == nil)
    #expect(side.makeKey(share: Array(vector.responderShare.bytes.dropLast())) == nil)
    #expect(side.makeKey(share: vector.responderShare.bytes + [0]) == nil)
    #expect(side.makeKey(share: []) == nil)
  }

  @Test func `different randomness gives different shares, and still the same key`() {
    func makeSide(_ isInitiator: Bool, _ random: UInt8) -> PasswordExchange {
      PasswordExchange(
        password: vector.password.secret, channel: [1], sessionID: [2], isInitiator: isInitiator,
        randomness: SecretBytes(repeating: random, count: 64))
    }
    let first = makeSide(true, 1)
    let second = makeSide(false, 2)
    #expect(first.share != makeSide(true, 3).share)
    #expect(first.makeKey(share: second.share) == second.makeKey(share: first.share))
    #expect(first.makeKey(share: second.share)?.count == 64)
  }
}
