import CaromCore
import Testing

@Suite struct PacketWriterTests {
  @Test func `integers are written in little-endian and big-endian order`() {
    var writer = PacketWriter(capacity: 0)
    writer.write(UInt16(0x0102))
    writer.writeBigEndian(UInt16(0x0102))
    writer.write(UInt8(9))
    writer.append(8)
    writer.write([7, 6])
    #expect(writer.bytes == [2, 1, 1, 2, 9, 8, 7, 6])
    #expect(writer.count == 8)
  }

  @Test func `a reader reads back everything that a writer wrote`() throws {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<1_000 {
      let value = generator.next()
      var writer = PacketWriter()
      writer.write(value)
      writer.writeBigEndian(value)
      writer.write(UInt32(truncatingIfNeeded: value))
      writer.writeVarInt(value)
      var reader = PacketReader(writer.bytes.span)
      #expect(try reader.read(UInt64.self) == value)
      #expect(try reader.readBigEndian(UInt64.self) == value)
      #expect(try reader.read(UInt32.self) == UInt32(truncatingIfNeeded: value))
      #expect(try reader.readVarInt() == value)
      try reader.finish()
    }
  }

  @Test func `two written bytes can be overwritten with a length`() {
    var writer = PacketWriter()
    writer.writeBigEndian(UInt16(0))
    writer.write([1, 2, 3])
    writer.overwriteBigEndian(0x0103, at: 0)
    #expect(writer.bytes == [1, 3, 1, 2, 3])
    writer.overwriteBigEndian(0x0908, at: 3)
    #expect(writer.bytes == [1, 3, 1, 9, 8])
  }

  @Test func `a string is encoded as its length and its UTF-8`() {
    var writer = PacketWriter()
    writer.writeText("é")
    writer.writeText(String(repeating: "a", count: 200))
    #expect(writer.bytes.prefix(5) == [2, 0xC3, 0xA9, 0xC8, 0x01])
    #expect(writer.count == 3 + 2 + 200)
  }
}
