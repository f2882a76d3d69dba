import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

let leo = PeerInfo(
  id: PeerID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10), name: "Leo",
  application: "airhockey")
let key = ConnectionKey(prefix: 0x0807_0605_0403_0201, rest: 0x100F_0E0D_0C0B_0A09)
let nameless = PeerInfo(
  id: PeerID(high: 0xFEDC_BA98_7654_3210, low: 0x0123_4567_89AB_CDEF), name: "",
  application: "airhockey")
let talkative = PeerInfo(
  id: nameless.id, name: String(repeating: "é", count: 31) + "z",
  application: String(repeating: "a", count: 32), applicationVersion: 0x1234, yieldsSeat: true)

let spectator = {
  var info = leo
  (info.isSpectator, info.match) = (true, 3)
  return info
}()

/// Decodes bytes that are exactly one stream frame as a packet.
func readPacket(_ bytes: [UInt8]) throws -> Packet {
  var decoder = FrameDecoder()
  decoder.receive(bytes.span, at: .zero)
  let body = try #require(try decoder.next())
  try decoder.finish()
  return try Packet(decoding: body.span)
}

/// Compares the session's packets with the vectors in `session.txt`.
@Suite struct SessionVectorTests {
  let vectors: [String: [UInt8]]

  init() throws { vectors = try WireVectors.load("session.txt") }

  static let packets: [String: ControlPacket] = [
    "request": .request(version: 2, key, leo),
    "request of a computer with the longest texts": .request(version: 2, .none, talkative),
    "request of a spectator for the third match": .request(version: 2, key, spectator),
    "grant": .grant(version: 2, nameless),
    "goodbye left": .goodbye(Goodbye(.left)),
    "goodbye finished": .goodbye(Goodbye(.finished)),
    "goodbye replaced": .goodbye(Goodbye(.replaced)),
    "goodbye full": .goodbye(Goodbye(.full)),
    "goodbye busy": .goodbye(Goodbye(.busy)),
    "goodbye declined": .goodbye(Goodbye(.declined, text: "tell us your name")),
    "goodbye versionMismatch": .goodbye(Goodbye(.versionMismatch, version: 7)),
    "goodbye wrongApplication": .goodbye(Goodbye(.wrongApplication)),
    "goodbye protocolViolation": .goodbye(Goodbye(.protocolViolation)),
    "goodbye timedOut": .goodbye(Goodbye(.timedOut)),
    "goodbye kicked": .goodbye(Goodbye(.kicked, text: "cheatz")),
    "goodbye forgotten": .goodbye(Goodbye(.forgotten)),
    "goodbye tooSlow": .goodbye(Goodbye(.tooSlow)),
    "goodbye tokenUsed": .goodbye(Goodbye(.tokenUsed)),
    "goodbye tokenExpired": .goodbye(Goodbye(.tokenExpired)),
    "goodbye tokenForOtherHost": .goodbye(Goodbye(.tokenForOtherHost)),
    "goodbye tokenBeforeStart": .goodbye(Goodbye(.tokenBeforeStart)),
    "goodbye tokenNotYetValid": .goodbye(Goodbye(.tokenNotYetValid)),
    "goodbye tokenInvalid": .goodbye(Goodbye(.tokenInvalid)),
    "goodbye moved":
      .goodbye(
        Goodbye(
          movedTo: NextHost(
            at: [
              Endpoint(.v4(0x0A00_0001), port: 7_777),
              Endpoint(.v6(high: 0x2001_0DB8 << 32, low: 1, scope: 0), port: 258),
            ], tokenBytes: Array(0xB1...0xB8)))),
    "goodbye moved to nobody knows where": .goodbye(Goodbye(.moved)),
    "join": .join(version: 2, key),
    "token": AddressToken(Array(0xB1...0xC8)).map { .token($0) } ?? .ping(sent: 0),
    "goodbye with the longest text":
      .goodbye(Goodbye(.declined, text: String(repeating: "n", count: 255))),
    "ping": .ping(sent: 0x0123_4567_89AB_CDEF),
    "pong": .pong(sent: 0x0123_4567_89AB_CDEF, clock: .max - 1),
  ]

  @Test func `every packet has a vector and every vector has a packet`() {
    #expect(vectors.keys.sorted() == Self.packets.keys.sorted())
  }

  @Test func `packets encode to their vectors`() {
    for (name, packet) in Self.packets {
      #expect(packet.packet.framed() == vectors[name], "\(name)")
    }
  }

  @Test func `packets decode from their vectors`() throws {
    for (name, bytes) in vectors {
      #expect(try ControlPacket(try readPacket(bytes)) == Self.packets[name], "\(name)")
    }
  }

  @Test func `a client sends its request first`() {
    var client = Connection.initiatingOnStream(
      as: LocalSide(leo), key: key, at: .zero)
    let bytes = client.pollStream(queued: 0, at: .zero)
    #expect(bytes == vectors["request"])
  }

  @Test func `a host sends its grant, its first ping, and a goodbye at the end`() throws {
    let request = try #require(vectors["request"])
    var host = Connection.respondingOnStream(as: LocalSide(nameless), at: .zero)
    host.receive(request.span, at: .zero)
    host.admit(at: .zero)
    let opening = host.pollStream(queued: 0, at: .zero)
    let ping = ControlPacket.ping(sent: 0).packet.framed()
    #expect(opening == vectors["grant"].map { $0 + ping })
    host.close(Goodbye(.finished), at: .zero)
    let ending = host.pollStream(queued: 0, at: .zero)
    #expect(ending == vectors["goodbye finished"])
  }

  @Test func `both sides answer a ping with its number and their clock`() throws {
    let clock = Instant(nanoseconds: -2)
    let (request, grant) = (try #require(vectors["request"]), try #require(vectors["grant"]))
    var host = Connection.respondingOnStream(as: LocalSide(nameless), at: clock)
    host.receive(request.span, at: clock)
    host.admit(at: clock)
    var client = Connection.initiatingOnStream(as: LocalSide(leo), at: clock)
    client.receive(grant.span, at: clock)
    _ = (host.pollStream(queued: 0, at: .zero), client.pollStream(queued: 0, at: .zero))
    let ping = try #require(vectors["ping"])
    host.receive(ping.span, at: clock)
    client.receive(ping.span, at: clock)
    let answers = [host.pollStream(queued: 0, at: .zero), client.pollStream(queued: 0, at: .zero)]
    #expect(answers == [vectors["pong"], vectors["pong"]])
  }

  @Test func `only nine bytes of a request with another version are read`() throws {
    var payload = Array("get srv".utf8) + [9, 0]
    for rest in [[], [0xFF, 0xFF, 0xFF]] as [[UInt8]] {
      payload += rest
      let packet = Packet(type: 1, action: 1, payload: payload)
      #expect(try ControlPacket(packet) == .request(version: 9, .none, .unknown))
    }
  }
}
