import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// Compares a whole handshake with fixed keys, and what is encrypted after it, with
/// `Tests/Fixtures/wire/encrypted.txt`.
///
/// The initiator's static secret key is 32 bytes of 1, and its ephemeral one 32 bytes of 2; the
/// responder's are 32 bytes of 3 and 4. The connection's key is 1 to 16.
@Suite struct EncryptedVectorTests {
  private let vectors: [String: [UInt8]]
  private let key = ConnectionKey(prefix: 0x0807_0605_0403_0201, rest: 0x100F_0E0D_0C0B_0A09)

  init() throws { vectors = try WireVectors.load("encrypted.txt") }

  private static func secret(_ byte: UInt8, count: Int = 32) -> SecretBytes {
    SecretBytes(copying: [UInt8](repeating: byte, count: count).span)
  }

  private static func makeSecurity(_ byte: UInt8, _ access: LinkAccess) -> LinkSecurity {
    LinkSecurity(
      Identity(KeyPair(secret: secret(byte))), access: access, seed: secret(byte),
      ciphers: [.chaChaPoly])
  }

  private struct Handshake {
    struct NoKeys: Error {}

    var parts: [[UInt8]] = []
    let initiator: DerivedKeys
    let responder: DerivedKeys

    init(key: ConnectionKey, code: JoinCode? = nil) throws {
      let access = code.map { LinkAccess.code($0, isForOneUse: false) } ?? .anyone
      let first = LinkHandshake.initiating(
        makeSecurity(1, access), key: key,
        .init(ephemeral: KeyPair(secret: secret(2)), exchange: secret(5, count: 64)))
      let hello = first.message
      let answer = LinkHandshake.responding(
        to: hello.span, makeSecurity(3, access), key: key,
        .init(ephemeral: KeyPair(secret: secret(4)), exchange: secret(6, count: 64)))
      let second = try #require(answer)
      let message = second.message
      let end = first.readAnswer(message.span)
      let third = try #require(end)
      let final = try #require(third.handshake)
      let last = final.message
      guard case .keys(let keys)? = second.readEnd(last.span) else { throw NoKeys() }
      initiator = third.keys
      responder = keys
      for handshake in [first, second, final] {
        var writer = FrameWriter(limit: 1_200)
        HandshakePart(
          number: handshake.number, keyPrefix: key.prefix, message: handshake.message
        ).write(to: &writer)
        parts.append(writer.bytes)
      }
    }
  }

  @Test func `a handshake with fixed keys yields its vectors`() throws {
    let handshake = try Handshake(key: key)
    for (number, part) in handshake.parts.enumerated() {
      #expect(vectors["part \(number + 1)"] == part)
    }
  }

  @Test func `a handshake with a code yields its vectors`() throws {
    let handshake = try Handshake(key: key, code: try JoinCode("K7QM-2XRT"))
    for (number, part) in handshake.parts.enumerated() {
      #expect(vectors["part \(number + 1) with a code"] == part)
    }
    var packet: [UInt8] = [0x10, 0x07, 0x00, 0x01] + [UInt8](repeating: 0, count: 16)
    var span = packet.mutableSpan
    handshake.initiator.sending.seal(&span, from: 0, head: 3, number: 7)
    #expect(vectors["packet 7 of the initiator with a code, a ping"] == packet)
  }

  /// The host's key of the backend is 32 bytes of 7.
  @Test func `a handshake with a connect token yields its vectors`() throws {
    let bytes = try #require(vectors["connect token"])
    let token = try ConnectToken(decoding: bytes.span)
    let backend = BackendKey(hexadecimal: Array(String(repeating: "07", count: 32).utf8))!
    let reader = TicketReader(keys: [backend], start: UnixTime(milliseconds: 0))
    let client = LinkSecurity(
      nil, access: .token(token), seed: Self.secret(1), ciphers: [.chaChaPoly])
    let host = Self.makeSecurity(3, .tickets(reader))
    var info = PeerInfo(
      id: PeerID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10), name: "Ada",
      application: "test")
    info.isSpectator = true
    var request: [UInt8] = []
    ControlPacket.request(version: 2, key, info).withMessage { request = Array(copying: $0) }
    let first = LinkHandshake.initiating(
      client, token: token, key: key, payload: request, ephemeral: KeyPair(secret: Self.secret(2)))
    let (ticketBytes, message) = (token.ticketBytes, first.message)
    let ticket = try reader.read(ticketBytes.span, at: token.made)
    guard let parts = TokenOpening.Parts(message.span, host),
      let opening = TokenOpening(parts, ticket: ticket, key: key, host)
    else { throw Handshake.NoKeys() }
    #expect(opening.payload == request)
    let id = Identity(KeyPair(secret: Self.secret(3))).id
    let answer = try #require(opening.answer(as: id, ephemeral: KeyPair(secret: Self.secret(4))))
    for handshake in [first, answer.handshake] {
      var writer = FrameWriter(limit: 1_200)
      HandshakePart(
        number: handshake.number, keyPrefix: key.prefix, message: handshake.message
      ).write(to: &writer)
      #expect(vectors["part \(handshake.number) with a connect token"] == writer.bytes)
    }
    let second = answer.handshake.message
    guard let end = first.readAnswer(second.span) else { throw Handshake.NoKeys() }
    #expect(end.handshake == nil && end.keys.link.peer == id)
    for (keys, name) in [(end.keys, "initiator"), (answer.keys, "responder")] {
      let first: UInt8 = name == "initiator" ? 0x10 : 0x50
      var packet: [UInt8] = [first, 0x07, 0x00, 0x01] + [UInt8](repeating: 0, count: 16)
      var span = packet.mutableSpan
      keys.sending.seal(&span, from: 0, head: 3, number: 7)
      #expect(vectors["packet 7 of the \(name) with a connect token, a ping"] == packet)
    }
    var changing = PacketKeys(end.keys, KeyLimits(), at: .zero)
    changing.changeSending(at: 8, at: 0)
    var packet: [UInt8] = [0x11, 0x08, 0x00, 0x01] + [UInt8](repeating: 0, count: 16)
    var span = packet.mutableSpan
    changing.seal(&span, from: 0, head: 3, number: 8)
    let name = "packet 8 of the initiator with a connect token, after a change of its key, a ping"
    #expect(vectors[name] == packet)
    var (followed, opened) = (PacketKeys(answer.keys, KeyLimits(), at: .zero), [UInt8]())
    let isOpened = followed.open(
      packet.span, head: 3, number: 8, phase: true, into: &opened, ownNumber: 1, roundTrip: 0,
      at: .zero)
    #expect(isOpened && opened == [1] && followed.sendingPhase)
  }

  /// What another implementation computes from the same keys. If `isKnown` is false, the responder
  /// has another key: 32 bytes of 9.
  @Test(arguments: [true, false])
  func `a handshake with a known host, or with another one, yields its vectors`(isKnown: Bool)
    throws
  {
    let request = try #require(vectors["request in part 1 to a known host"])
    let hello = try #require(vectors["hello before part 1 to a known host"])
    #expect(
      hello
        == Hello(
          key: key, epoch: 1, resumes: false, cookie: Cookie(bits: 0xA8A7_A6A5_A4A3_A2A1)!,
          isSealed: true
        ).encoded)
    let host = isKnown ? "a known host" : "another host than the known one"
    let known = Identity(KeyPair(secret: Self.secret(3)))
    let begun = LinkHandshake.initiating(
      Self.makeSecurity(1, .anyone), host: known.publicKey, key: key, hello: hello,
      payload: request, ephemeral: KeyPair(secret: Self.secret(2)))
    let first = try #require(begun)
    func part(_ handshake: LinkHandshake) -> [UInt8] {
      var writer = FrameWriter(limit: 1_200)
      HandshakePart(
        number: handshake.number, keyPrefix: key.prefix, message: handshake.message
      ).write(to: &writer)
      return writer.bytes
    }
    #expect(vectors["part 1 to a known host"] == part(first))
    let message = first.message
    let answer = LinkHandshake.answering(
      message.span, Self.makeSecurity(isKnown ? 3 : 9, .anyone), key: key, hello: hello,
      acceptsKnown: true, ephemeral: KeyPair(secret: Self.secret(4)))
    var keys: [(keys: DerivedKeys, first: UInt8, name: String)] = []
    switch answer {
    case .last(let second, let responder, let payload):
      #expect(isKnown && payload == request)
      #expect(vectors["part 2 of \(host)"] == part(second))
      let bytes = second.message
      let read = first.readAnswer(bytes.span)
      let end = try #require(read)
      #expect(end.handshake == nil && end.keys.link.usesKnownKey)
      keys = [
        (end.keys, 0x10, "packet 7 of the initiator to \(host), a ping"),
        (responder, 0x50, "packet 7 of the responder as \(host), a ping"),
      ]
    case .second(let second):
      #expect(!isKnown)
      #expect(vectors["part 2 of \(host)"] == part(second))
      let bytes = second.message
      let read = first.readAnswer(bytes.span)
      let end = try #require(read)
      let third = try #require(end.handshake)
      #expect(vectors["part 3 to \(host)"] == part(third) && !end.keys.link.usesKnownKey)
      keys = [(end.keys, 0x10, "packet 7 of the initiator to \(host), a ping")]
    case .rejected: Issue.record("the first message was not answered")
    }
    for (keys, first, name) in keys {
      var packet: [UInt8] = [first, 0x07, 0x00, 0x01] + [UInt8](repeating: 0, count: 16)
      var span = packet.mutableSpan
      keys.sending.seal(&span, from: 0, head: 3, number: 7)
      #expect(vectors[name] == packet)
    }
  }

  @Test func `ids are derived from static keys as in the vectors`() throws {
    for (name, byte) in [("initiator", 1), ("responder", 3)] as [(String, UInt8)] {
      var writer = PacketWriter()
      let id = Identity(KeyPair(secret: Self.secret(byte))).id
      writer.writeBigEndian(id.high)
      writer.writeBigEndian(id.low)
      #expect(vectors["id of the \(name)"] == writer.bytes)
    }
  }

  @Test func `the tag of a hello is that of the vector`() throws {
    var writer = PacketWriter()
    var hello = Hello(
      key: key, epoch: 2, resumes: false, cookie: Cookie(bits: 0xA8A7_A6A5_A4A3_A2A1)!,
      isSealed: true)
    for keys in [try Handshake(key: key).initiator, try Handshake(key: key).responder] {
      hello.tag = keys.link.makeTag(of: hello)
      writer = PacketWriter()
      hello.tag?.encode(into: &writer)
      #expect(vectors["tag of a hello with epoch 2 and the cookie a1 to a8"] == writer.bytes)
    }
  }

  @Test func `a data packet is encrypted as in its vector, and the responder can read it`() throws {
    let handshake = try Handshake(key: key)
    var packet: [UInt8] = [0x10, 0x07, 0x00, 0x01] + [UInt8](repeating: 0, count: 16)
    var span = packet.mutableSpan
    handshake.initiator.sending.seal(&span, from: 0, head: 3, number: 7)
    #expect(vectors["packet 7 of the initiator, a ping"] == packet)
    var opened: [UInt8] = []
    let isAuthentic = handshake.responder.receiving.open(
      packet.span, head: 3, number: 7, into: &opened)
    #expect(isAuthentic)
    #expect(opened == [0x01])
  }
}
