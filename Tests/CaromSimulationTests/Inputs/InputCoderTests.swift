import CaromCore
import Testing

@testable import CaromSimulation

/// The coding of runs; WireFormat, Rollback play.
@Suite struct InputCoderTests {
  /// The coder of one field as the wire format page describes it, written without regard to speed.
  private struct Reference {
    var (s0, s1, size, slope) = (Int64(0), Int64(0), Int64(0), Int64(0))
    var last: Int64

    init(last: Int32) { self.last = Int64(last) }

    private var predicted: Int64 { s1 < s0 ? last + slope : last }

    /// The bits of a value.
    func bits(of value: Int64) -> String {
      let d = value - predicted
      let u = d < 0 ? UInt64(-2 * d - 1) : UInt64(2 * d)
      let small = size / 8
      let k = small == 0 ? 0 : min(30, String(small, radix: 2).count)
      let high = String((u >> UInt64(k)) + 1, radix: 2)
      let low = String((u & ((1 << UInt64(k)) - 1)) | (1 << UInt64(k)), radix: 2).dropFirst()
      return String(repeating: "0", count: high.count - 1) + high + low
    }

    mutating func update(with value: Int64) {
      let limit = Int64(1) << 34
      let d = min(abs(value - predicted), limit)
      let (e0, e1) = (min(abs(value - last), limit), min(abs(value - last - slope), limit))
      size += d - size / 4
      s0 += e0 - s0 / 8
      s1 += e1 - s1 / 8
      slope = value - last
      last = value
    }
  }

  private static let runs: [[Int32]] = {
    var generator = SeededGenerator(seed: 12)
    var runs: [[Int32]] = [
      [], [0], [7, 7, 7], [0, 10, 20, 30, 40, 51, 60, 60, 60, 60, 61], [.max, .min, .max, 0, 1],
      (0..<60).map { Int32($0 * $0) }, Array(repeating: 0, count: 30) + [1_000_000],
    ]
    for reach in [3, 100, 5_000, 1 << 20] as [Int32] {
      var (value, step) = (Int32(0), Int32(0))
      runs.append(
        (0..<120).map { _ in
          if generator.chance(0.1) { step = Int32.random(in: -reach...reach, using: &generator) }
          value += step + Int32.random(in: -2...2, using: &generator)
          return value
        })
    }
    return runs
  }()

  @Test(arguments: runs, [0, 1, 5, 12])
  func `a run has the bits that the wire format describes`(run: [Int32], context: Int) {
    let known = run.prefix(context)
    var reference = Reference(last: 0)
    var coder = InputCoder<NumberInput>()
    for value in known {
      reference.update(with: Int64(value))
      coder.update(with: NumberInput(value: value))
    }
    let rest = Array(run.dropFirst(context))
    let changes = rest.contains { Int64($0) != reference.last }
    var expected = changes ? "1" : "0"
    if changes {
      for value in rest {
        expected += reference.bits(of: Int64(value))
        reference.update(with: Int64(value))
      }
    }
    expected += String(repeating: "0", count: (8 - expected.count % 8) % 8)
    var writer = PacketWriter()
    var bits = BitWriter()
    coder.encode(rest.count, into: &writer, bits: &bits) { NumberInput(value: rest[$0]) }
    bits.finish(&writer)
    let written = writer.bytes.map { String(Int($0) | 256, radix: 2).dropFirst() }.joined()
    #expect(written == expected)
  }

  @Test func `the field of a neutral input is the last value before the first input`() throws {
    var coder = InputCoder<OffsetInput>()
    var writer = PacketWriter()
    var bits = BitWriter()
    coder.encode(2, into: &writer, bits: &bits) { _ in OffsetInput() }
    bits.finish(&writer)
    #expect(writer.bytes == [0])
    var reader = PacketReader([UInt8](arrayLiteral: 0).span)
    var readBits = BitReader()
    coder.reset()
    try coder.decode(2, from: &reader, bits: &readBits)
    #expect(coder.run == [OffsetInput(), OffsetInput()])
  }

  @Test func `a value that is not a signed number of 32 bits is invalid`() throws {
    for (difference, isValid) in [(Int64(Int32.max), true), (Int64(Int32.max) + 1, false)] {
      for sign in [1, -1] as [Int64] {
        let value = sign < 0 ? -difference - 1 : difference
        var writer = PacketWriter()
        var bits = BitWriter()
        bits.write(1, 1, to: &writer)
        bits.writeGolomb(VarInt.zigZag(value), 0, to: &writer)
        bits.finish(&writer)
        var coder = InputCoder<NumberInput>()
        var reader = PacketReader(writer.bytes.span)
        var readBits = BitReader()
        if isValid {
          try coder.decode(1, from: &reader, bits: &readBits)
          #expect(coder.run.map { Int64($0.value) } == [value])
        } else {
          #expect(throws: DecodeError.invalid(what: "input field")) {
            try coder.decode(1, from: &reader, bits: &readBits)
          }
        }
      }
    }
  }

  @Test(arguments: [(0, 36), (6, 30), (30, 6)])
  func `a Golomb code has at most 36 bits after its zeros`(order: Int, length: Int) throws {
    for (count, isValid) in [(length, true), (length + 1, false)] {
      var writer = PacketWriter()
      var bits = BitWriter()
      let value = (UInt64(1) << UInt64(count - 1) - 1) << UInt64(order)
      bits.writeGolomb(value, order, to: &writer)
      bits.finish(&writer)
      var reader = PacketReader(writer.bytes.span)
      var readBits = BitReader()
      if isValid {
        #expect(try readBits.readGolomb(order, &reader) == value)
      } else {
        #expect(throws: DecodeError.invalid(what: "input difference")) {
          try readBits.readGolomb(order, &reader)
        }
      }
    }
  }

  @Test func `the bits that fill the last byte are zeros`() throws {
    for byte in [0b1010_0000, 0b1010_0001, 0b1011_0000] as [UInt8] {
      var reader = PacketReader([byte].span)
      var bits = BitReader()
      #expect(try bits.read(3, &reader) == 0b101)
      if byte == 0b1010_0000 {
        try bits.finish()
      } else {
        #expect(throws: DecodeError.invalid(what: "padding")) { try bits.finish() }
      }
      #expect(try bits.read(5, &reader) == UInt64(byte & 31))
      try bits.finish()
      #expect(throws: DecodeError.self) { try bits.bit(&reader) }
    }
  }

  @Test func `bits are written and read from the most significant one down, across bytes`() throws {
    var writer = PacketWriter()
    var bits = BitWriter()
    bits.write(0b1, 1, to: &writer)
    bits.write(0xFFF1_2345_6789_ABCD, 52, to: &writer)
    bits.write(0b10, 2, to: &writer)
    bits.finish(&writer)
    #expect(writer.bytes == [0x89, 0x1A, 0x2B, 0x3C, 0x4D, 0x5E, 0x6C])
    var reader = PacketReader(writer.bytes.span)
    var readBits = BitReader()
    #expect(try readBits.bit(&reader))
    #expect(try readBits.read(52, &reader) == 0x1_2345_6789_ABCD)
    #expect(try readBits.read(2, &reader) == 2)
    try readBits.finish()
    try reader.finish()
  }
}

/// An input whose neutral value is not 0.
private struct OffsetInput: SimulationInput {
  var value: Int32 = -70

  static var fieldCount: Int { 1 }
  init() {}
  init(fields: Span<Int32>) throws(DecodeError) { value = fields[0] }
  func field(_ index: Int) -> Int32 { value }
}
