import CaromCore
import Testing

@testable import CaromPlacement

@Suite struct RESPDecoderTests {
  private static let samples: [(text: String, value: RESPValue)] = [
    ("+OK\r\n", .simpleString(Array("OK".utf8))),
    ("+\r\n", .simpleString([])),
    ("-ERR no\r\n", .error(Array("ERR no".utf8))),
    (":0\r\n", .integer(0)),
    (":-9223372036854775808\r\n", .integer(.min)),
    ("$0\r\n\r\n", .bulkString([])),
    ("$4\r\na\r\nb\r\n", .bulkString([97, 13, 10, 98])),
    ("$-1\r\n", .null),
    ("*-1\r\n", .null),
    ("*0\r\n", .array([])),
    ("*2\r\n*1\r\n:1\r\n*0\r\n", .array([.array([.integer(1)]), .array([])])),
    ("*3\r\n$1\r\nx\r\n$-1\r\n+y\r\n", .array([.bulkString([120]), .null, .simpleString([121])])),
  ]

  private static func decode(
    _ bytes: [UInt8], inPartsOf length: Int, limits: RESPDecoder.Limits = .init()
  ) throws(DecodeError) -> [RESPValue] {
    var decoder = RESPDecoder(limits: limits)
    var values: [RESPValue] = []
    for start in stride(from: 0, to: bytes.count, by: length) {
      decoder.append(Array(bytes[start..<min(bytes.count, start + length)]).span)
      while let value = try decoder.next() { values.append(value) }
    }
    return values
  }

  @Test(arguments: 1...9)
  func `answers are read whatever parts they come in`(_ length: Int) throws {
    let all = Array(Self.samples.map(\.text).joined().utf8)
    #expect(try Self.decode(all, inPartsOf: length) == Self.samples.map(\.value))
  }

  @Test func `an answer is not complete before its last byte`() throws {
    for sample in Self.samples {
      let bytes = Array(sample.text.utf8)
      for end in bytes.indices {
        #expect(try Self.decode(Array(bytes[..<end]), inPartsOf: 9) == [])
      }
    }
  }

  @Test func `what is encoded is decoded`() throws {
    for sample in Self.samples {
      #expect(try Self.decode(sample.value.encoded, inPartsOf: 5) == [sample.value])
    }
  }

  @Test(arguments: [
    "x\r\n", "\r\n", "+a\rb\r\n", ":\r\n", ":+1\r\n", ":01\r\n", ":-0\r\n", ":1a\r\n",
    ":9223372036854775808\r\n", "$-2\r\n", "*-2\r\n", "$1\r\nab\r\n", "$1\r\na\rx", "$ 1\r\n",
  ])
  func `what no server sends is refused`(_ text: String) {
    for length in [1, 100] {
      #expect(throws: DecodeError.self) { try Self.decode(Array(text.utf8), inPartsOf: length) }
    }
  }

  @Test func `each limit holds before the bytes have come`() throws {
    var limits = RESPDecoder.Limits()
    limits.line = 8
    limits.bulkString = 10
    limits.values = 6
    limits.bytes = 40
    limits.depth = 2
    let refused = [
      "+123456789", "$11\r\n", "*7\r\n", "*3\r\n*5\r\n", "*1\r\n*1\r\n*1\r\n",
      "*4\r\n$9\r\n123456789\r\n$9\r\n123456789\r\n$9\r\n123456789\r\n",
    ]
    for text in refused {
      #expect(throws: DecodeError.self, "\(text)") {
        try Self.decode(Array(text.utf8), inPartsOf: 3, limits: limits)
      }
    }
    for text in ["+1234567\r\n", "$10\r\n1234567890\r\n", "*5\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n"] {
      let bytes = Array((text + text).utf8)
      #expect(try Self.decode(bytes, inPartsOf: 3, limits: limits).count == 2)
    }
  }
}
