import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// The limits of the page WireFormat, "Common encodings" and "Session packets".
@Suite struct SessionPacketTests {
  private static let key = ConnectionKey(prefix: 1, rest: 2)
  private static let info = PeerInfo(
    id: PeerID(high: 1, low: 2), name: "Maya", application: "airhockey", applicationVersion: 3)
  private static let packets: [ControlPacket] = [
    .request(version: 2, key, info), .grant(version: 2, info), .goodbye(Goodbye(.left)),
    .goodbye(Goodbye(.kicked, text: "why")), .ping(sent: 9), .pong(sent: 9, clock: 10),
    .join(version: 2, key), .token(AddressToken(Array(1...24))!),
  ]

  /// Decodes the packet as it arrives in datagrams: type, action and payload.
  private func decodeMessage(_ bytes: [UInt8]) throws(DecodeError) -> ControlPacket? {
    try ControlPacket.decode(bytes.span)
  }

  // MARK: Layouts

  @Test(arguments: packets)
  func `a payload has exactly the length of its layout`(control: ControlPacket) throws {
    let packet = control.packet
    #expect(try ControlPacket(packet) == control)
    #expect(try decodeMessage(packet.encoded) == control)
    let lengths = Array(0..<packet.payload.count) + [packet.payload.count + 1]
    for length in lengths {
      let payload = Array((packet.payload + [0]).prefix(length))
      let other = Packet(type: 1, action: packet.action, payload: payload)
      #expect(throws: DecodeError.self) { try ControlPacket(other) }
      #expect(throws: DecodeError.self) { try decodeMessage(other.encoded) }
    }
  }

  @Test func `an unlisted action is unknown, and another type is malformed`() throws {
    for action in [0, 11, 255, 256, .max] as [UInt16] {
      let packet = Packet(type: 1, action: action, payload: [1, 2, 3])
      #expect(try ControlPacket(packet) == nil)
      #expect(try decodeMessage(packet.encoded) == nil)
    }
    var ping = ControlPacket.ping(sent: 1).packet
    for type in [0, 2, 3, 0x101] as [UInt16] {
      ping = Packet(type: type, action: ping.action, payload: ping.payload)
      #expect(throws: DecodeError.self) { try decodeMessage(ping.encoded) }
    }
  }

  @Test func `nine bytes of a request with another version are read`() throws {
    let payload = Array("get srv".utf8) + [3, 0]
    for extra in [0, 1, 100] {
      let packet = Packet(
        type: 1, action: 1, payload: payload + [UInt8](repeating: 0xFF, count: extra))
      #expect(try ControlPacket(packet) == .request(version: 3, .none, .unknown))
    }
    let short = Packet(type: 1, action: 1, payload: Array(payload.dropLast()))
    #expect(throws: DecodeError.self) { try ControlPacket(short) }
  }

  // MARK: Goodbyes

  @Test func `the goodbye codes are 0 to 24`() throws {
    for code in UInt8.min...UInt8.max {
      // Code 24 has a host of no endpoints and no token.
      let packet = Packet(
        type: 1, action: 3, payload: [code, 2, 0, 0] + (code == 24 ? [0, 0] : []))
      guard let known = Goodbye.Code(rawValue: code) else {
        #expect(code > 24)
        #expect(throws: DecodeError.self) { try ControlPacket(packet) }
        continue
      }
      #expect(code <= 24)
      #expect(try ControlPacket(packet) == .goodbye(Goodbye(known)))
      #expect(ControlPacket.goodbye(Goodbye(known)).packet == packet)
    }
  }

  @Test func `the text of a goodbye has at most 255 bytes`() throws {
    let longest = String(repeating: "é", count: 127) + "z"
    let goodbye = Goodbye(.declined, text: longest)
    let head: [UInt8] = [5, 2, 0, 0xFF, 1]
    #expect(ControlPacket.goodbye(goodbye).packet.payload == head + Array(longest.utf8))
    #expect(try ControlPacket(ControlPacket.goodbye(goodbye).packet) == .goodbye(goodbye))
    let longer = Packet(
      type: 1, action: 3, payload: [5, 2, 0, 0x80, 2] + [UInt8](repeating: 0x61, count: 256))
    #expect(throws: DecodeError.tooLarge(length: 256, limit: 255)) { try ControlPacket(longer) }
    var changed = Goodbye(.kicked, text: "short")
    changed.text = longest + "z"
    for goodbye in [Goodbye(.kicked, text: longest + "z"), changed] {
      #expect(ControlPacket.goodbye(goodbye).packet.payload == [10, 2, 0, 0])
    }
  }

  @Test func `only goodbyes with the codes 5 and 10 have a text`() throws {
    for code in (0...12).compactMap(Goodbye.Code.init) {
      let payload = ControlPacket.goodbye(Goodbye(code, text: "why")).packet.payload
      let carriesText = code.rawValue == 5 || code.rawValue == 10
      let explained: [UInt8] = [code.rawValue, 2, 0, 3, 0x77, 0x68, 0x79]
      #expect(payload == (carriesText ? explained : [code.rawValue, 2, 0, 0]))
      let received = Packet(type: 1, action: 3, payload: explained)
      if carriesText {
        #expect(try ControlPacket(received) == .goodbye(Goodbye(code, text: "why")))
      } else {
        #expect(throws: DecodeError.invalid(what: "goodbye text")) { try ControlPacket(received) }
      }
    }
  }

  // MARK: Peer information

  /// Decodes peer information with the given bytes in its fields of variable content.
  private func decodeInfo(
    flags: UInt8 = 0, application: [UInt8], name: [UInt8], match: UInt16? = nil
  ) throws(DecodeError) -> PeerInfo {
    var writer = PacketWriter()
    writer.writeBigEndian(1 as UInt64)
    writer.writeBigEndian(2 as UInt64)
    writer.write(flags)
    writer.write(3 as UInt16)
    for text in [application, name] {
      writer.writeVarInt(UInt64(text.count))
      for byte in text { writer.write(byte) }
    }
    if let match { writer.write(match) }
    let bytes = writer.bytes
    var reader = PacketReader(bytes.span)
    let info = try PeerInfo(decoding: &reader)
    try reader.finish()
    var copy = PacketWriter()
    info.encode(into: &copy)
    #expect(flags > 7 || copy.bytes == bytes)
    return info
  }

  private func letters(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }

  @Test func `an application name has 1 to 32 bytes, and a display name 0 to 63`() throws {
    for (application, name) in [(1, 0), (32, 63)] {
      let info = try decodeInfo(application: letters(application), name: letters(name))
      #expect(info.application.utf8.count == application && info.name.utf8.count == name)
    }
    for (application, name) in [(0, 1), (33, 1), (1, 64)] {
      #expect(throws: DecodeError.self) {
        try decodeInfo(application: letters(application), name: letters(name))
      }
    }
    // 62 bytes in 31 characters, and one or two more bytes.
    let accents = Array(String(repeating: "é", count: 31).utf8)
    #expect(try decodeInfo(application: letters(1), name: accents + [0x7A]).name.count == 32)
    #expect(throws: DecodeError.self) {
      try decodeInfo(application: letters(1), name: accents + [0x7A, 0x7A])
    }
    #expect(throws: DecodeError.invalid(what: "UTF-8")) {
      try decodeInfo(application: letters(1), name: [0xC3])
    }
  }

  @Test func `flags other than bits 0 to 2 are ignored`() throws {
    for flags in UInt8.min...UInt8.max {
      let match: UInt16? = flags & 4 == 0 ? nil : 7
      let info = try decodeInfo(flags: flags, application: letters(1), name: [], match: match)
      #expect(info.yieldsSeat == (flags & 1 != 0) && info.isSpectator == (flags & 2 != 0))
      #expect(info.match == match ?? 0)
    }
  }

  @Test func `the number of a match follows the name, and is not 0`() throws {
    #expect(try decodeInfo(flags: 4, application: letters(1), name: [], match: .max).match == .max)
    #expect(throws: DecodeError.invalid(what: "match: 0")) {
      try decodeInfo(flags: 4, application: letters(1), name: [], match: 0)
    }
    // With the flag and without the number, and the other way round.
    #expect(throws: DecodeError.self) {
      try decodeInfo(flags: 4, application: letters(1), name: [])
    }
    #expect(throws: DecodeError.self) {
      try decodeInfo(flags: 0, application: letters(1), name: [], match: 1)
    }
  }
}
