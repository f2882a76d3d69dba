import CaromCodec
import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// The goodbye that sends a player to another host.
@Suite struct NextHostTests {
  private static let near = Endpoint(.v4(0x0A00_0001), port: 7_777)
  private static let far = Endpoint(.v6(high: 0x2001_0DB8 << 32, low: 1, scope: 0), port: 258)

  private static func makeToken(_ hosts: [Endpoint]) throws -> ConnectToken {
    var generator = SeededGenerator(seed: 4)
    let key = BackendKey(using: &generator)
    return try ConnectToken(
      for: hosts, player: PeerID(high: 1, low: 2), lifetime: .seconds(10),
      data: [UInt8](repeating: 9, count: ConnectToken.maximumData), key: key,
      at: UnixTime(milliseconds: 5), using: &generator)
  }

  private func decode(_ payload: [UInt8]) throws -> ControlPacket? {
    try ControlPacket(Packet(type: 1, action: 3, payload: [24, 2, 0, 0] + payload))
  }

  @Test func `the next host has its endpoints, and the token as bytes`() throws {
    let token = try Self.makeToken([Self.near])
    let next = NextHost(at: [Self.near, Self.far], token: token)
    let endpoints: [UInt8] =
      [2, 4, 10, 0, 0, 1, 0x61, 0x1E]
      + [6, 0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1]
    var length = PacketWriter()
    length.writeVarInt(UInt64(token.bytes.count))
    let goodbye = Goodbye(movedTo: next)
    #expect(
      ControlPacket.goodbye(goodbye).packet.payload
        == [24, 2, 0, 0] + endpoints + length.bytes + token.bytes)
    #expect(try decode(endpoints + length.bytes + token.bytes) == .goodbye(goodbye))
    #expect(goodbye.reason == .moved(to: next))
    #expect(next.token == token)
    #expect("\(goodbye.reason)" == "moved to 10.0.0.1:7777, [2001:db8::1]:258")
    #expect("\(Goodbye(.moved).reason)" == "moved to another host")
    var dumped = ""
    dump(next, to: &dumped)
    #expect(!dumped.contains("token"))
  }

  @Test func `a next host that is too large or cannot be connected to is malformed`() throws {
    // Endpoints of 7 bytes: 4.4.4.4, port 0x0404.
    let most = [6] + [UInt8](repeating: 4, count: 6 * 7)
    let noToken: [UInt8] = [0]
    #expect(try decode(most + noToken) != nil)
    #expect(throws: DecodeError.tooLarge(length: 7, limit: 6)) {
      try decode([7] + [UInt8](repeating: 4, count: 7 * 7) + noToken)
    }
    let largest: [UInt8] = [0, 0x80, 6] + [UInt8](repeating: 1, count: 768)
    #expect(try decode(largest) != nil)
    #expect(throws: DecodeError.tooLarge(length: 769, limit: 768)) {
      try decode([0, 0x81, 6] + [UInt8](repeating: 1, count: 769))
    }
    let unusable: [[UInt8]] = [
      [5, 1, 1, 1, 1, 1, 1],  // another version
      [4, 1, 1, 1, 1, 0, 0],  // port 0
      [4, 0, 0, 0, 0, 1, 1],  // unspecified
      [4, 224, 0, 0, 1, 1, 1],  // multicast
    ]
    for endpoint in unusable {
      #expect(throws: DecodeError.self) { try decode([1] + endpoint + noToken) }
    }
    #expect(throws: DecodeError.self) { try decode([0]) }
    #expect(throws: DecodeError.self) { try decode([0, 0, 0]) }
    // Bytes that are not a token end the connection as usual, and cannot be used.
    guard case .goodbye(let goodbye)? = try decode([0, 1, 7]) else {
      Issue.record("the goodbye was not decoded")
      return
    }
    #expect(goodbye.nextHost?.hasToken == true && goodbye.nextHost?.token == nil)
  }

  @Test func `a goodbye of another code has no next host`() throws {
    var goodbye = Goodbye(movedTo: NextHost(at: [Self.near]))
    goodbye.code = .left
    #expect(ControlPacket.goodbye(goodbye).packet.payload == [0, 2, 0, 0])
    let packet = Packet(type: 1, action: 3, payload: [0, 2, 0, 0, 0, 0])
    #expect(throws: DecodeError.self) { try ControlPacket(packet) }
  }

  @Test func `a token does not leave on a connection in plaintext`() throws {
    let next = NextHost(at: [Self.near], token: try Self.makeToken([Self.near]))
    var pair = ConnectionPair.opened()
    pair.host.close(Goodbye(movedTo: next), at: pair.now)
    pair.exchange()
    #expect(pair.clientEvents.endings == [.moved(to: NextHost(at: [Self.near]))])
  }

  @Test func `a token leaves on an encrypted connection`() throws {
    let next = NextHost(at: [Self.near, Self.far], token: try Self.makeToken([Self.near]))
    var pair = DatagramPair.opened(isEncrypted: true)
    let id = try #require(pair.hostID)
    pair.host.close(id, Goodbye(movedTo: next), at: pair.now)
    pair.run(for: .seconds(1))
    #expect(pair.clientEvents.endings == [.moved(to: next)])
  }

  @Test func `a client cannot send its host away`() {
    var pair = ConnectionPair.opened()
    pair.client.close(Goodbye(movedTo: NextHost(at: [Self.near])), at: pair.now)
    pair.exchange()
    #expect(pair.hostEvents.endings == [.protocolViolation])
  }
}
