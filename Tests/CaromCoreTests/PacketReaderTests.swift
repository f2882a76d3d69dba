import CaromCore
import Testing

@Suite struct PacketReaderTests {
  @Test func `integers are read in little-endian and big-endian order`() throws {
    let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    var reader = PacketReader(bytes.span)
    #expect(try reader.read(UInt16.self) == 0x0201)
    #expect(try reader.readBigEndian(UInt16.self) == 0x0304)
    #expect(try reader.read(UInt32.self) == 0x0807_0605)
    #expect(reader.offset == 8 && reader.remaining == 0)
    try reader.finish()
  }

  @Test func `eight bytes are read as a 64-bit integer`() throws {
    let bytes = [UInt8](repeating: 0xFF, count: 16)
    var reader = PacketReader(bytes.span)
    #expect(try reader.read(UInt64.self) == .max)
    #expect(try reader.readBigEndian(UInt64.self) == .max)
  }

  @Test func `peeking does not consume a byte`() throws {
    let bytes: [UInt8] = [7, 8]
    var reader = PacketReader(bytes.span)
    #expect(reader.peek() == 7)
    #expect(reader.offset == 0)
    let first: UInt8 = try reader.read()
    #expect(first == 7)
    #expect(reader.peek() == 8)
    _ = try reader.read(UInt8.self)
    #expect(reader.peek() == nil)
  }

  @Test func `a read past the end throws and consumes nothing`() throws {
    let bytes: [UInt8] = [1, 2, 3]
    var reader = PacketReader(bytes.span)
    do {
      _ = try reader.read(UInt32.self)
      Issue.record("four bytes out of three")
    } catch {
      #expect(error == .truncated(wanted: 4, remaining: 3))
    }
    #expect(reader.offset == 0)
    #expect(try reader.read(UInt8.self) == 1)
  }

  @Test(arguments: [4, .max, -1, .min]) func `reading any count of bytes does not trap`(count: Int)
  {
    let bytes: [UInt8] = [1, 2, 3]
    var reader = PacketReader(bytes.span)
    do {
      _ = try reader.readBytes(count)
      Issue.record("\(count) bytes out of three")
    } catch {
      #expect(error == .truncated(wanted: count, remaining: 3))
    }
  }

  @Test func `bytes can be read as a copy or as a span`() throws {
    let bytes: [UInt8] = [1, 2, 3, 4, 5]
    var reader = PacketReader(bytes.span)
    #expect(try reader.readBytes(2) == [1, 2])
    let span = try reader.readSpan(2)
    #expect(span.count == 2 && span[0] == 3)
    #expect(try reader.readBytes(0) == [])
    #expect(reader.readRest() == [5])
    #expect(reader.readRest() == [])
  }

  @Test func `finish throws if bytes are left over`() {
    let bytes: [UInt8] = [1, 2]
    let reader = PacketReader(bytes.span)
    do {
      try reader.finish()
      Issue.record("two bytes are left")
    } catch {
      #expect(error == .trailingBytes(2))
    }
  }

  @Test func `a string is read back`() throws {
    var writer = PacketWriter()
    writer.writeText("Maya’s table 🏒")
    writer.writeText("")
    var reader = PacketReader(writer.bytes.span)
    #expect(try reader.readText(limit: 63) == "Maya’s table 🏒")
    #expect(try reader.readText(limit: 0) == "")
  }

  @Test func `a string at its limit is read, and one byte more is refused`() throws {
    var writer = PacketWriter()
    writer.writeText("éa")
    var reader = PacketReader(writer.bytes.span)
    #expect(try reader.readText(limit: 3) == "éa")
    reader = PacketReader(writer.bytes.span)
    do {
      _ = try reader.readText(limit: 2)
      Issue.record("three bytes out of two")
    } catch {
      #expect(error == .tooLarge(length: 3, limit: 2))
    }
  }

  @Test func `a string as a value has at most 65,536 bytes`() throws {
    let longest = String(repeating: "a", count: 65_536)
    #expect(longest.encoded.count == 3 + 65_536)
    #expect(try String(decoding: longest.encoded.span) == longest)
    #expect(throws: DecodeError.tooLarge(length: 65_537, limit: 65_536)) {
      try String(decoding: (longest + "a").encoded.span)
    }
  }

  @Test func `a string over its limit is refused by its length alone`() {
    let bytes: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0x0F]
    var reader = PacketReader(bytes.span)
    do {
      _ = try reader.readText(limit: 63)
      Issue.record("four gigabytes of text")
    } catch {
      #expect(error == .tooLarge(length: 0xFFFF_FFFF, limit: 63))
    }
  }

  @Test(
    arguments: [[3, 65, 66], [1, 0xFF], [2, 0xC3, 0x28], [3, 0xED, 0xA0, 0x80]] as [[UInt8]])
  func `a text that is cut or no UTF-8 is an error`(bytes: [UInt8]) {
    var reader = PacketReader(bytes.span)
    do {
      let text = try reader.readText(limit: 63)
      Issue.record("\(text)")
    } catch {
      #expect(error == .truncated(wanted: 3, remaining: 2) || error == .invalid(what: "UTF-8"))
    }
  }

  @Test func `spans can be copied into arrays`() {
    let bytes: [UInt8] = [1, 2, 3]
    #expect([UInt8](copying: bytes.span) == bytes)
    var array: [UInt8] = [0]
    array.append(copying: bytes.span)
    array.append(copying: bytes.span.extracting(..<0))
    #expect(array == [0, 1, 2, 3])
    array.makeRoom(for: 1_000)
    #expect(array.capacity >= 1_004 && array == [0, 1, 2, 3])
  }
}
