import CaromCBOR
import CaromCore
import Testing

@Suite struct PacketRegistryTests {
  @Test func `a registered type is decoded to its Swift value`() throws {
    var registry = try makeRegistry()
    let packet = try Packet(Chat(text: "hello", to: ["Leo"]))
    #expect(packet.type == 16 && packet.action == 0)
    guard case .value(let chat as Chat, 0) = registry.decode(packet) else {
      Issue.record("not a chat")
      return
    }
    #expect(chat == Chat(text: "hello", to: ["Leo"]))
  }

  @Test func `a PacketCodable type uses its own format`() throws {
    var registry = try makeRegistry()
    let packet = try Packet(Drop(column: 6))
    #expect(packet == Packet(type: 17, action: 2, payload: [6]))
    guard case .value(let drop as Drop, 2) = registry.decode(packet) else {
      Issue.record("not a drop")
      return
    }
    #expect(drop == Drop(column: 6))
  }

  @Test func `registering a packet type twice is an error`() throws {
    var registry = try makeRegistry()
    #expect(throws: PacketRegistryError.taken(type: 16, by: "Chat")) {
      try registry.register(Impostor.self)
    }
    #expect(throws: PacketRegistryError.taken(type: 16, by: "Chat")) {
      try registry.register(Chat.self)
    }
    #expect(registry.contains(16) && !registry.contains(18))
  }

  @Test func `an unknown type is returned as unknown and counted`() throws {
    var registry = try makeRegistry()
    for _ in 0..<3 {
      let packet = Packet(type: 99, action: 7, payload: [1, 2])
      guard case .unknown(type: 99, action: 7, [1, 2]) = registry.decode(packet) else {
        Issue.record("not unknown")
        return
      }
    }
    #expect(registry.unknownCount == 3 && registry.malformedCount == 0)
  }

  @Test func `a malformed payload is returned with its error`() throws {
    var registry = try makeRegistry()
    let packet = Packet(type: 17, action: 2, payload: [6, 6])
    guard case .malformed(type: 17, action: 2, .trailingBytes(1)) = registry.decode(packet) else {
      Issue.record("not malformed")
      return
    }
    guard case .malformed(type: nil, action: nil, let error) = registry.decode([1, 2].span) else {
      Issue.record("not malformed")
      return
    }
    #expect(error == .truncated(wanted: 4, remaining: 2))
    #expect(registry.malformedCount == 2 && registry.unknownCount == 0)
  }

  @Test func `a header can be read without decoding the payload`() throws {
    let body: [UInt8] = [16, 0, 5, 0, 0xFF, 0xFF]  // not a valid Chat
    let header = try PacketHeader(of: body.span)
    #expect(header.type == 16 && header.action == 5)
    #expect(throws: DecodeError.self) { try PacketHeader(of: [1, 2, 3].span) }
  }

  private func makeRegistry() throws -> PacketRegistry {
    var registry = PacketRegistry()
    try registry.register(Chat.self)
    try registry.register(Drop.self)
    return registry
  }
}

struct Chat: Codable, Equatable, PacketPayload {
  static let packetType: UInt16 = 16
  var text: String
  var to: [String]
}

struct Impostor: Codable, PacketPayload {
  static let packetType: UInt16 = 16
}

struct Drop: Codable, Equatable, PacketCodable, PacketPayload {
  static let packetType: UInt16 = 17
  var packetAction: UInt16 { 2 }
  var column: UInt8

  init(column: UInt8) { self.column = column }

  func encode(into writer: inout PacketWriter) { writer.append(column) }
  init(decoding reader: inout PacketReader) throws(DecodeError) { column = try reader.read() }
}
