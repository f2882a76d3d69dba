import CaromCore
import Testing

@Suite struct VarIntTests {
  @Test(
    arguments: [
      (0, [0]), (1, [1]), (127, [0x7F]), (128, [0x80, 1]), (300, [0xAC, 2]),
      (16_383, [0xFF, 0x7F]), (16_384, [0x80, 0x80, 1]),
      (.max, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
    ] as [(UInt64, [UInt8])])
  func `seven bits a byte, the least first`(value: UInt64, bytes: [UInt8]) throws {
    var writer = PacketWriter()
    writer.writeVarInt(value)
    #expect(writer.bytes == bytes)
    #expect(VarInt.length(of: value) == bytes.count)
    var reader = PacketReader(bytes.span)
    #expect(try reader.readVarInt() == value)
    try reader.finish()
  }

  @Test func `the encoded length is correct around each power of two`() {
    for bit in 0..<64 {
      for value in [1 << UInt64(bit), (1 << UInt64(bit)) - 1, (1 << UInt64(bit)) + 1] as [UInt64] {
        var writer = PacketWriter()
        writer.writeVarInt(value)
        #expect(writer.count == VarInt.length(of: value))
        #expect(writer.count <= VarInt.maximumLength)
      }
    }
  }

  @Test(
    arguments: [
      [], [0x80], [0x80, 0], [0x81, 0x80, 0],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2],
      [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1],
    ] as [[UInt8]])
  func `cut, over 64 bits and longer than needed are errors`(bytes: [UInt8]) {
    var reader = PacketReader(bytes.span)
    do {
      let value = try reader.readVarInt()
      Issue.record("\(value)")
    } catch {}
  }

  @Test func `zig-zag encoding keeps small magnitudes small and is reversible`() {
    #expect([0, -1, 1, -2, 2].map { VarInt.zigZag($0) } == [0, 1, 2, 3, 4])
    for value in [0, 1, -1, .max, .min, 1 << 40, -(1 << 40)] as [Int64] {
      #expect(VarInt.unZigZag(VarInt.zigZag(value)) == value)
    }
    #expect(VarInt.zigZag(.min) == .max)
  }
}
