import CaromCore
import CaromSimulation

/// An input with one field, which uses all 32 bits.
struct NumberInput: SimulationInput {
  var value: Int32 = 0

  static var fieldCount: Int { 1 }
  init() {}
  init(value: Int32) { self.value = value }
  init(fields: Span<Int32>) throws(DecodeError) { value = fields[0] }
  func field(_ index: Int) -> Int32 { value }
}
