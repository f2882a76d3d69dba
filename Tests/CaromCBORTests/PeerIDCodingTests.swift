import CaromCBOR
import CaromCore
import Testing

@Suite struct PeerIDCodingTests {
  private let id = PeerID(high: 0x66e5_5068_0000_0000, low: 1)

  @Test func `an id is encoded as its 32 digits, also as the key of a dictionary`() throws {
    let text = "66e55068000000000000000000000001"
    let encoder = PacketEncoder()
    #expect(try encoder.encode(id) == encoder.encode(text))
    #expect(try encoder.encode([id: 7]) == encoder.encode([text: 7]))
    let decoded = try PacketDecoder().decode([PeerID: Int].self, from: encoder.encode([text: 7]))
    #expect(decoded == [id: 7])
    #expect(try PacketDecoder().decode(PeerID.self, from: encoder.encode(text)) == id)
  }

  @Test(arguments: ["", "66e5", "66e5506800000000000000000000000g"])
  func `a text that is no id is refused`(text: String) throws {
    let bytes = try PacketEncoder().encode(text)
    #expect(throws: DecodeError.self) { try PacketDecoder().decode(PeerID.self, from: bytes) }
  }
}
