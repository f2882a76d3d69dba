import CaromCore
import Testing

@Suite struct DecodeErrorTests {
  @Test(arguments: [
    (DecodeError.truncated(wanted: 4, remaining: 1), "truncated: wanted 4 bytes, 1 are left"),
    (.tooLarge(length: 9, limit: 8), "too large: 9 is over the limit of 8"),
    (.trailingBytes(2), "2 bytes are left over"), (.invalid(what: "port"), "invalid port"),
  ])
  func `the description of an error includes its values`(error: DecodeError, text: String) {
    #expect(error.description == text)
  }

  @Test func `static texts with the same characters are equal`() {
    let text: StaticText = "port"
    #expect(text == "port" && text != "name")
    #expect(text.description == "port")
    #expect(Set<StaticText>(["port", "port", "name"]).count == 2)
    #expect(DecodeError.invalid(what: "port") == .invalid(what: text))
  }

  @Test func `decoding a value fails if bytes are left over`() throws {
    let pair = Pair(a: 1, b: 2)
    #expect(pair.encoded == [1, 0, 2])
    #expect(try Pair(decoding: pair.encoded.span) == pair)
    #expect(throws: DecodeError.trailingBytes(1)) { try Pair(decoding: [1, 0, 2, 3].span) }
    #expect(throws: DecodeError.truncated(wanted: 1, remaining: 0)) {
      try Pair(decoding: [1, 0].span)
    }
  }
}

private struct Pair: PacketCodable, Equatable {
  var a: UInt16
  var b: UInt8

  init(a: UInt16, b: UInt8) {
    self.a = a
    self.b = b
  }

  func encode(into writer: inout PacketWriter) {
    writer.write(a)
    writer.append(b)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    a = try reader.read()
    b = try reader.read()
  }
}
