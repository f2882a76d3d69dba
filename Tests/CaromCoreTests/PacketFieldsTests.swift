import CaromCore
import Testing

@Suite struct PacketFieldsTests {
  @Test func `signed integers are two's complement, little-endian`() throws {
    var writer = PacketWriter()
    writer.write(Int8(-1))
    writer.write(Int16(-2))
    writer.write(Int32.min)
    writer.write(Int64.max)
    #expect(writer.bytes.prefix(7) == [0xFF, 0xFE, 0xFF, 0, 0, 0, 0x80])
    var reader = PacketReader(writer.bytes.span)
    #expect(try reader.read(Int8.self) == -1)
    #expect(try reader.read(Int16.self) == -2)
    #expect(try reader.read(Int32.self) == .min)
    #expect(try reader.read(Int64.self) == .max)
    try reader.finish()
  }

  @Test func `floats keep all their bits`() throws {
    var writer = PacketWriter()
    writer.write(Float(1))
    writer.write(-Double.leastNonzeroMagnitude)
    writer.write(Double.nan)
    #expect(writer.bytes.prefix(4) == [0, 0, 0x80, 0x3F])
    var reader = PacketReader(writer.bytes.span)
    #expect(try reader.read(Float.self) == 1)
    #expect(try reader.read(Double.self) == -Double.leastNonzeroMagnitude)
    #expect(try reader.read(Double.self).isNaN)
    try reader.finish()
  }

  @Test func `arrays and optionals are read as written`() throws {
    var writer = PacketWriter()
    writer.writeArray(["a", "bc"])
    writer.writeOptional(String?.none)
    writer.writeOptional("d")
    #expect(writer.bytes == [2, 1, 97, 2, 98, 99, 0, 1, 1, 100])
    var reader = PacketReader(writer.bytes.span)
    #expect(try reader.readArray(of: String.self, limit: 2) == ["a", "bc"])
    #expect(try reader.readOptional(String.self) == nil)
    #expect(try reader.readOptional(String.self) == "d")
    try reader.finish()
  }

  @Test func `an array over its limit and an optional of 2 are refused`() {
    #expect(throws: DecodeError.tooLarge(length: 3, limit: 2)) {
      var reader = PacketReader([3, 0, 0, 0].span)
      _ = try reader.readArray(of: String.self, limit: 2)
    }
    #expect(throws: DecodeError.invalid(what: "optional: neither absent nor present")) {
      var reader = PacketReader([2, 0].span)
      _ = try reader.readOptional(String.self)
    }
  }

  @Test func `an Int has 8 bytes, and a truth value one`() throws {
    var writer = PacketWriter()
    writer.write(-2)
    writer.write(true)
    #expect(writer.bytes == [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1])
    var reader = PacketReader(writer.bytes.span)
    #expect(try reader.read(Int.self) == -2)
    #expect(try reader.read(Bool.self))
    #expect(throws: DecodeError.invalid(what: "Bool: neither 0 nor 1")) {
      try Bool(decoding: [2].span)
    }
  }

  @Test func `numbers are elements of arrays`() throws {
    var writer = PacketWriter()
    writer.writeArray([1.5, -2])
    writer.writeArray([Int16(-3)])
    writer.writeOptional(UInt8(9))
    var reader = PacketReader(writer.bytes.span)
    #expect(try reader.readArray(of: Double.self, limit: 8) == [1.5, -2])
    #expect(try reader.readArray(of: Int16.self, limit: 8) == [-3])
    #expect(try reader.readOptional(UInt8.self) == 9)
  }

  @Test func `an array of a billion values that are missing is refused without allocating them`() {
    var writer = PacketWriter()
    writer.writeVarInt(1 << 30)
    let bytes = writer.bytes
    #expect(throws: DecodeError.truncated(wanted: 8, remaining: 0)) {
      var reader = PacketReader(bytes.span)
      _ = try reader.readArray(of: Double.self, limit: .max)
    }
  }
}
