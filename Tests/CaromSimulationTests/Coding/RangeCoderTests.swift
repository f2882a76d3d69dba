import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct RangeCoderTests {
  private func makeBytes(_ bits: [Bool], _ models: [RangeModel]) -> [UInt8] {
    var encoder = RangeEncoder()
    var used = models
    var span = used.mutableSpan
    for (index, bit) in bits.enumerated() { encoder.encode(bit, index % models.count, &span) }
    encoder.finish()
    return encoder.bytes
  }

  @Test(arguments: [0.0, 0.003, 0.2, 0.5, 0.9, 1.0])
  func `bits of any probability read as they were written`(probability: Double) {
    for seed in UInt64(0)..<50 {
      var generator = SeededGenerator(seed: seed)
      let models = (0..<4).map { _ in RangeModel(UInt16.random(in: 200...65_000, using: &generator))
      }
      let bits = (0..<Int.random(in: 0...600, using: &generator)).map { _ in
        generator.chance(probability)
      }
      let bytes = makeBytes(bits, models)
      #expect(bytes[0] < 0x80)
      var decoder = RangeDecoder()
      decoder.start(bytes.span)
      var used = models
      var span = used.mutableSpan
      var read: [Bool] = []
      for index in bits.indices { read.append(decoder.decode(index & 3, &span)) }
      #expect(read == bits)
      #expect(decoder.endsAsWritten)
    }
  }

  @Test func `a carry propagates through all bytes`() {
    var models = [RangeModel(1)]
    var encoder = RangeEncoder()
    let bits = (0..<64).map { $0 % 16 == 15 }
    for _ in 0..<8 { encoder.encode(bits: 0xFFFF, count: 16) }
    var span = models.mutableSpan
    for bit in bits { encoder.encode(bit, 0, &span) }
    encoder.finish()
    var decoder = RangeDecoder()
    decoder.start(encoder.bytes.span)
    for _ in 0..<8 { #expect(decoder.decode(bits: 16) == 0xFFFF) }
    models = [RangeModel(1)]
    var other = models.mutableSpan
    var read: [Bool] = []
    for _ in bits { read.append(decoder.decode(0, &other)) }
    #expect(read == bits)
  }

  @Test func `a skewed source takes little more than its entropy`() {
    var generator = SeededGenerator(seed: 1)
    let bits = (0..<20_000).map { _ in generator.chance(0.02) }
    let entropy = 20_000 * 0.1414 / 8
    #expect(Double(makeBytes(bits, [RangeModel(1 << 15)]).count) < entropy * 1.12)
  }

  @Test func `both coders decode numbers of any size`() {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<300 {
      let shift = Int64.random(in: 1...62, using: &generator)
      let value = Int64(bitPattern: generator.next()) >> shift
      let (bytes, riceBytes) = makeBytes(value)
      var models = Array(repeating: RangeModel(1 << 15), count: DeltaBins.count)
      var span = models.mutableSpan
      var range = RangeDecoder()
      range.start(bytes.span)
      let read = range.residual(0, 0, &span, order: 3)
      #expect(read == value)
      guard let riceBytes else { continue }
      var rice = RiceReader()
      rice.start(riceBytes.span)
      let riceRead = rice.residual(0, 0, &span, order: 3)
      #expect(riceRead == value)
      #expect(rice.endsAsWritten)
    }
  }

  /// Encodes a number with both coders. The second result is nil if the number does not fit into
  /// that form.
  private func makeBytes(_ value: Int64) -> ([UInt8], [UInt8]?) {
    var models = Array(repeating: RangeModel(1 << 15), count: DeltaBins.count)
    var span = models.mutableSpan
    var range = RangeEncoder()
    _ = range.residual(value, 0, &span, order: 3)
    range.finish()
    var rice = RiceWriter()
    rice.start()
    _ = rice.residual(value, 0, &span, order: 3)
    rice.finish()
    return (range.bytes, rice.fits ? rice.bytes : nil)
  }
}
