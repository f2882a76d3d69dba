import CaromCore
import Testing

@testable import CaromGroup

@Suite struct MeshMessageTests {
  private static let messages: [(MeshMessage, [UInt8])] = [
    (
      .hello(MeshHello(incarnation: 0x0102_0304_0506_0708, joinsEveryone: true, lastUse: 9)),
      [1, 1, 1, 8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0]
    ),
    (.use(number: 258), [2, 2, 1, 0, 0]),
    (
      .invite(InvitationRequest(number: 3, timeout: .milliseconds(100), context: [7, 8])),
      [3, 3, 0, 0, 0, 100, 2, 7, 8]
    ),
    (.answer(number: 3, .declined), [4, 3, 0, 0, 0, 1]),
    (.withdraw(number: 3), [5, 3, 0, 0, 0]),
    (.confirm(number: 3), [6, 3, 0, 0, 0]),
  ]

  @Test func `messages have the bytes of the wire format`() throws {
    for (message, bytes) in Self.messages {
      #expect(message.encoded == bytes)
      #expect(try MeshMessage(decoding: bytes.span) == message)
    }
  }

  @Test func `a message that is cut short or too long is refused`() {
    for (_, bytes) in Self.messages {
      for count in 0..<bytes.count {
        let cut = Array(bytes.prefix(count))
        #expect(throws: DecodeError.self) { try MeshMessage(decoding: cut.span) }
      }
      let long = bytes + [0]
      #expect(throws: DecodeError.self) { try MeshMessage(decoding: long.span) }
    }
  }

  @Test(
    arguments: [
      [0], [7], [1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 3],
    ] as [[UInt8]])
  func `an unknown kind, version or answer is refused`(bytes: [UInt8]) {
    #expect(throws: DecodeError.self) { try MeshMessage(decoding: bytes.span) }
  }

  @Test func `a context has at most 4,096 bytes, and an invitation lasts a day at most`() throws {
    func encoded(_ context: Int, _ milliseconds: UInt64) -> [UInt8] {
      var writer = PacketWriter()
      writer.write(UInt8(3))
      writer.write(UInt32(1))
      writer.writeVarInt(milliseconds)
      writer.writeVarInt(UInt64(context))
      writer.write([UInt8](repeating: 5, count: context))
      return writer.bytes
    }
    let largest = encoded(4096, 86_400_000)
    #expect(throws: Never.self) { try MeshMessage(decoding: largest.span) }
    for bytes in [encoded(4097, 1000), encoded(0, 86_400_001)] {
      #expect(throws: DecodeError.self) { try MeshMessage(decoding: bytes.span) }
    }
    let request = InvitationRequest(number: 1, timeout: .seconds(1_000_000), context: [])
    #expect(request.timeout == .seconds(86_400))
  }
}
