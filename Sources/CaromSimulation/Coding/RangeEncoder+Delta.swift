extension RangeEncoder: DeltaCoder {
  var failed: Bool { false }

  mutating func fail() {}

  @inline(__always) mutating func flag(
    _ bit: Bool, _ model: Int, _ models: inout MutableSpan<RangeModel>
  ) -> Bool {
    encode(bit, model, &models)
    return bit
  }

  mutating func bits(_ value: UInt64, _ count: Int) -> UInt64 {
    var rest = count
    while rest > 0 {
      let part = min(rest, 16)
      rest -= part
      encode(bits: value >> UInt64(rest) & (1 << UInt64(part) - 1), count: part)
    }
    return value
  }

  mutating func number(
    _ value: UInt64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> UInt64 {
    encode(value != 0, model, &models)
    if value != 0 { encode(magnitude: value, model, &models) }
    return value
  }

  @inline(__always) mutating func residual(
    _ value: Int64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> Int64 {
    encode(value != 0, model, &models)
    guard value != 0 else { return 0 }
    encode(bits: value < 0 ? 1 : 0, count: 1)
    encode(magnitude: value.magnitude, model, &models)
    return value
  }

  private mutating func encode(
    magnitude: UInt64, _ model: Int, _ models: inout MutableSpan<RangeModel>
  ) {
    let exponent = 63 - magnitude.leadingZeroBitCount
    for index in 0..<exponent { encode(true, model + DeltaBins.unaryModel(index), &models) }
    if exponent < DeltaBins.largestExponent {
      encode(false, model + DeltaBins.unaryModel(exponent), &models)
    }
    guard exponent > 0 else { return }
    let top = magnitude >> UInt64(exponent - 1) & 1 == 1
    encode(top, model + DeltaBins.topModel(exponent), &models)
    if exponent > 1 {
      _ = bits(magnitude & ((1 << UInt64(exponent - 1)) - 1), exponent - 1)
    }
  }
}
