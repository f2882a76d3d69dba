extension RangeDecoder: DeltaCoder {
  @inline(__always) mutating func flag(
    _ bit: Bool, _ model: Int, _ models: inout MutableSpan<RangeModel>
  ) -> Bool { decode(model, &models) }

  mutating func bits(_ value: UInt64, _ count: Int) -> UInt64 {
    var value: UInt64 = 0
    var rest = count
    while rest > 0 {
      let part = min(rest, 16)
      rest -= part
      value = value << UInt64(part) | decode(bits: part)
    }
    return value
  }

  mutating func number(
    _ value: UInt64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> UInt64 {
    decode(model, &models) ? magnitude(model, &models) : 0
  }

  @inline(__always) mutating func residual(
    _ value: Int64, _ model: Int, _ models: inout MutableSpan<RangeModel>, order: Int
  ) -> Int64 {
    guard decode(model, &models) else { return 0 }
    let isNegative = decode(bits: 1) == 1
    let magnitude = Int64(magnitude(model, &models))
    return isNegative ? -magnitude : magnitude
  }

  private mutating func magnitude(
    _ model: Int, _ models: inout MutableSpan<RangeModel>
  ) -> UInt64 {
    var exponent = 0
    while exponent < DeltaBins.largestExponent,
      decode(model + DeltaBins.unaryModel(exponent), &models)
    {
      exponent += 1
    }
    guard exponent > 0 else { return 1 }
    let top: UInt64 = decode(model + DeltaBins.topModel(exponent), &models) ? 3 : 2
    guard exponent > 1 else { return top }
    return top << UInt64(exponent - 1) | bits(0, exponent - 1)
  }
}
