import CaromCore
import Testing

@testable import CaromSimulation

/// The codes of inputs (WireFormat, Rollback play, Inputs) and of the smallest snapshots
/// (WireFormat, Snapshots), bit by bit.
@Suite struct BitCodingTests {
  /// The bytes of bits, padded with zeros.
  private func bytes(_ text: String) -> [UInt8] {
    let bits = Array(text.utf8) + [UInt8](repeating: 48, count: (8 - text.utf8.count % 8) % 8)
    return stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<start + 8].reduce(0) { $0 << 1 | ($1 - 48) }
    }
  }

  private func golomb(_ value: UInt64, _ order: Int) -> [UInt8] {
    var writer = PacketWriter()
    var bits = BitWriter()
    bits.writeGolomb(value, order, to: &writer)
    bits.finish(&writer)
    return writer.bytes
  }

  @Test func `bits follow each other from the most significant on, and zeros fill the last byte`()
    throws
  {
    var writer = PacketWriter()
    var bits = BitWriter()
    let parts: [(UInt64, Int)] = [
      (0b101, 3), (0xFFF1, 1), (0, 0), (0x2_0000_0001, 34), (0x8F, 7), (.max, 56), (0, 1),
    ]
    for (value, count) in parts { bits.write(value, count, to: &writer) }
    bits.finish(&writer)
    let expected =
      "101" + "1" + "10" + String(repeating: "0", count: 31) + "1" + "0001111"
      + String(repeating: "1", count: 56) + "0"
    #expect(writer.bytes == bytes(expected) && writer.bytes.count == 13)
    var reader = PacketReader(writer.bytes.span)
    var input = BitReader()
    for (value, count) in parts {
      #expect(try input.read(count, &reader) == value & (count == 0 ? 0 : 1 << count - 1))
    }
    #expect(input.isPaddingZero && reader.remaining == 0)
    let last = try input.read(2, &reader)
    #expect(last == 0)
    #expect(throws: DecodeError.self) { try input.bit(&reader) }
    // Nothing is written at a whole byte.
    bits.finish(&writer)
    #expect(writer.bytes.count == 13)
  }

  @Test(
    arguments: [
      (0, 0, "1"), (1, 0, "010"), (2, 0, "011"), (3, 0, "00100"), (6, 0, "00111"),
      (7, 0, "0001000"),
      (0, 2, "100"), (3, 2, "111"), (4, 2, "01000"), (11, 2, "01111"), (12, 2, "0010000"),
      (255, 8, "111111111"), (256, 8, "01000000000"),
    ] as [(UInt64, Int, String)])
  func `an exponential Golomb code has a prefix of zeros, and as many low bits as its order`(
    value: UInt64, order: Int, code: String
  ) throws {
    #expect(golomb(value, order) == bytes(code))
    var reader = PacketReader(golomb(value, order).span)
    var bits = BitReader()
    #expect(try bits.readGolomb(order, &reader) == value)
    #expect(bits.isPaddingZero)
  }

  @Test func `a code whose length and order exceed 36 is refused`() throws {
    for order in [0, 1, 30] {
      // The most bits above the order, all of them ones.
      let high = UInt64(1) << (36 - order) - 2
      let largest = high << order | (1 << order - 1)
      var reader = PacketReader(golomb(largest, order).span)
      var bits = BitReader()
      #expect(try bits.readGolomb(order, &reader) == largest)
      var next = PacketReader(golomb(largest + 1, order).span)
      var other = BitReader()
      #expect(throws: DecodeError.invalid(what: "input difference")) {
        try other.readGolomb(order, &next)
      }
    }
  }

  @Test(arguments: [("1", true), ("10000000", true), ("1000001", false), ("100000001", true)])
  func `the padding has to be zeros`(code: String, isValid: Bool) throws {
    var bits = BitReader()
    #expect(bits.isPaddingZero)
    let source = bytes(code)
    var reader = PacketReader(source.span)
    _ = try bits.read(1, &reader)
    #expect(bits.isPaddingZero == isValid)
    if isValid {
      try bits.finish()
    } else {
      #expect(throws: DecodeError.self) { try bits.finish() }
    }
  }

  // MARK: Small snapshots

  private func rice(_ numbers: [(UInt64, Int)]) -> RiceWriter {
    var writer = RiceWriter()
    writer.start()
    for (value, order) in numbers { writer.writeRice(value, order: order) }
    return writer
  }

  private func read(_ bytes: [UInt8], _ orders: [Int]) -> (values: [UInt64], reader: RiceReader) {
    var reader = RiceReader()
    reader.start(bytes.span)
    var models = [RangeModel(32_768)]
    var span = models.mutableSpan
    var values: [UInt64] = []
    for order in orders { values.append(reader.number(0, 0, &span, order: order)) }
    return (values, reader)
  }

  @Test(
    arguments: [
      (0, 0, "0"), (1, 0, "10"), (11, 0, "111111111110"), (5, 2, "1001"), (47, 2, "11111111111011"),
      (12, 0, "111111111111" + "000011" + "1100"), (48, 2, "111111111111" + "000101" + "110000"),
      (1 << 40, 0, "111111111111" + "101000" + "1" + String(repeating: "0", count: 40)),
    ] as [(UInt64, Int, String)])
  func `a number of a small snapshot is unary above its order, or has its width from 12 on`(
    value: UInt64, order: Int, code: String
  ) {
    var writer = rice([(value, order)])
    writer.finish()
    #expect(writer.bytes == bytes("1" + code) && writer.bitCount == 1 + code.count && writer.fits)
    let (values, reader) = read(writer.bytes, [order])
    #expect(values == [value] && reader.endsAsWritten)
  }

  @Test func `a small snapshot has at most twelve bytes`() {
    let full = rice(Array(repeating: (0, 0), count: 95))
    #expect(full.fits && full.bitCount == 96 && full.bytes.count == 12)
    let over = rice(Array(repeating: (0, 0), count: 96))
    #expect(!over.fits && over.bytes.count == 12)
    let zeros = [UInt8](repeating: 0, count: 12)
    #expect(!read(zeros, []).reader.failed && read(zeros + [0], []).reader.failed)
  }

  @Test(arguments: [
    // A width that is too large, and a value that has a shorter code.
    ("111111111111" + "000100" + "01100", 0), ("111111111111" + "000011" + "1011", 0),
    ("111111111111" + "000101" + "101111", 2),
  ])
  func `a number that is not in its shortest form is refused`(code: String, order: Int) {
    let (values, reader) = read(bytes("1" + code), [order])
    #expect(values == [0] && reader.failed && !reader.endsAsWritten)
  }

  @Test func `a small snapshot that ends too early or too late is refused`() {
    let source = bytes("1" + "111111111110" + "10")
    #expect(read(source, [0, 0]).reader.endsAsWritten)
    #expect(!read(source, [0]).reader.endsAsWritten)
    #expect(!read(source + [0], [0, 0]).reader.endsAsWritten)
    let short = read([0xFF], [0])
    #expect(short.reader.failed && !short.reader.endsAsWritten)
  }
}
