import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct RangeCoderTests {
  @Test(arguments: [0.0, 0.003, 0.2, 0.5, 0.9, 1.0])
  func `bits of any probability read as they were written`(probability: Double) {
    for seed in UInt64(0)..<50 {
      var generator = SeededGenerator(seed: seed)
      let models = (0..<4).map { _ in RangeModel(UInt16.random(in: 200...65_000, using: &generator))
      }
      let bits = (0..<Int.random(in: 0...600, using: &generator)).map { _ in
        generator.chance(probability)
      }
      var encoder = RangeEncoder(models: models)
      for (index, bit) in bits.enumerated() { encoder.encode(bit, index & 3) }
      encoder.finish()
      var decoder = RangeDecoder(models: models)
      decoder.start(encoder.bytes.span, models)
      for (index, bit) in bits.enumerated() { #expect(decoder.decode(index & 3) == bit) }
      #expect(decoder.endsAsWritten)
      #expect(encoder.bytes[0] < 0x80)
    }
  }

  @Test func `a carry goes as far as it has to`() {
    let models = [RangeModel(1)]
    var encoder = RangeEncoder(models: models)
    let bits = (0..<64).map { $0 % 16 == 15 }
    for _ in 0..<8 { encoder.encode(bits: 0xFFFF, count: 16) }
    for bit in bits { encoder.encode(bit, 0) }
    encoder.finish()
    var decoder = RangeDecoder(models: models)
    decoder.start(encoder.bytes.span, models)
    for _ in 0..<8 { #expect(decoder.decode(bits: 16) == 0xFFFF) }
    for bit in bits { #expect(decoder.decode(0) == bit) }
  }

  @Test func `a skewed source takes little more than its entropy`() {
    var generator = SeededGenerator(seed: 1)
    var encoder = RangeEncoder(models: [RangeModel(1 << 15)])
    for _ in 0..<20_000 { encoder.encode(generator.chance(0.02), 0) }
    encoder.finish()
    let entropy = 20_000 * 0.1414 / 8
    #expect(Double(encoder.bytes.count) < entropy * 1.12)
  }

  @Test func `numbers of any size read as they were written, by either coder`() {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<300 {
      let shift = Int64.random(in: 1...62, using: &generator)
      let value = Int64(bitPattern: generator.next()) >> shift
      let models = Array(repeating: RangeModel(1 << 15), count: DeltaBins.count)
      var range = RangeEncoder(models: models)
      _ = range.residual(value, 0, order: 3)
      range.finish()
      var rangeReader = RangeDecoder(models: models)
      rangeReader.start(range.bytes.span, models)
      #expect(rangeReader.residual(0, 0, order: 3) == value)
      var rice = RiceWriter()
      rice.start()
      _ = rice.residual(value, 0, order: 3)
      rice.finish()
      guard rice.fits else { continue }
      var riceReader = RiceReader()
      riceReader.start(rice.bytes.span)
      #expect(riceReader.residual(0, 0, order: 3) == value)
      #expect(riceReader.endsAsWritten)
    }
  }
}
