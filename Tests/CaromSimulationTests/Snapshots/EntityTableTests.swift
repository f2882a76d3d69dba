import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct EntityTableTests {
  private static let schema = EntitySchema(
    .integer(-10...300), .position(-1...1, step: 0.5), .angle(bits: 2), .flag)

  @Test func `values are clamped to their fields, and angles wrap around`() {
    var table = EntityTable(schema: Self.schema)
    table.append(3, [-11, 3, 4, -1])
    table.append(9, [301, -3, -1, 2])
    table.append(10, [300, 2, 7, 1])
    #expect(table.values == [-10, 2, 0, 0, 300, -2, 3, 1, 300, 2, 3, 1])
    #expect(table.count == 3 && table.value(1, at: 1) == -2)
    let found = [0, 3, 4, 9, 10, 11].map { table.index(of: $0) }
    #expect(found.map(\.index) == [0, 0, 1, 1, 2, 3])
    #expect(found.map(\.isFound) == [false, true, false, true, true, false])
    let copy = table
    table.removeAll()
    #expect(table.count == 0 && table.values == [] && table != copy)
    table.append(3, copy.values.prefix(4).map { $0 })
    #expect(table != copy)
    for (id, start) in [(9, 4), (10, 8)] as [(UInt32, Int)] {
      table.append(id, Array(copy.values[start..<start + 4]))
    }
    #expect(table == copy && table.hashValue == copy.hashValue)
    var other = EntityTable(schema: EntitySchema(.integer(0...1)))
    #expect(EntityTable(schema: Self.schema) != other)
    other.append(1, [1])
    #expect(other.values == [1])
  }

  @Test func `a reader clamps to the type, and knows the unit of each field`() {
    var table = EntityTable(schema: Self.schema)
    table.append(1, [300, -1, 3, 1])
    var reader = EntityFieldReader(table, at: 0)
    let number: Int8 = reader.read()
    let place: Double = reader.read()
    let angle: Double = reader.read()
    let flag: Bool = reader.read()
    #expect(number == 127 && place == -0.5 && flag)
    #expect(abs(angle - 1.5 * .pi) < 1e-12)
    table.append(2, [-3, 0, 0, 0])
    var second = EntityFieldReader(table, at: 1)
    let unsigned: UInt16 = second.read()
    let steps: Int = second.read()
    #expect(unsigned == 0 && steps == 0)
  }

  @Test(
    arguments: [
      (-1, 3), (0, 0), (3, 3), (4, 0), (-4, 0), (-5, 3), (Int64.min, 0), (.max, 3),
    ] as [(Int64, Int64)])
  func `a field that wraps maps any value into its bounds`(value: Int64, wrapped: Int64) {
    let field = EntityField.angle(bits: 2)
    #expect(field.clamped(value) == wrapped)
    let shifted = EntityField(5...8, wraps: true)
    if value.magnitude < 100 { #expect(shifted.clamped(value + 5) == wrapped + 5) }
    #expect(EntityField(0...3).clamped(value) == min(max(value, 0), 3))
  }

  @Test func `a position is rounded outwards to whole steps`() {
    let field = EntityField.position(-1.1...2.3, step: 0.5)
    #expect(field.lowerBound == -3 && field.upperBound == 5)
    #expect(field.step == 0.5 && field.prediction == .linear && !field.wraps)
    #expect(field.width == 4 && field.span == 9)
    let quantities: [Double] = [-0.75, -0.74, 0.25, 0.75, 9, -9]
    let steps = quantities.map { field.quantized($0) }
    #expect(steps == [-2, -1, 1, 2, 5, -3])
    let angle = EntityField.angle(bits: 3)
    #expect(angle.span == 8 && angle.wraps && angle.prediction == .held)
    let turns: [Double] = [0, 1, 7.6, 8, -1]
    let parts = turns.map { angle.quantized($0 * .pi / 4) }
    #expect(parts == [0, 1, 0, 0, 7])
    #expect(angle.quantized(1e300) == 0)
    #expect(EntityField.flag.span == 2 && EntityField.integer(3...9).prediction == .held)
  }

  @Test func `every part of a field changes the fingerprint`() {
    let schemas = [
      EntitySchema(EntityField(0...9)), EntitySchema(EntityField(1...9)),
      EntitySchema(EntityField(0...8)), EntitySchema(EntityField(0...9, prediction: .linear)),
      EntitySchema(EntityField(0...9, wraps: true)), EntitySchema(EntityField(0...9, step: 2)),
      EntitySchema(EntityField(0...9), EntityField(0...9)),
      EntitySchema(EntityField(0...9), EntityField(1...9)),
      EntitySchema(EntityField(1...9), EntityField(0...9)),
    ]
    #expect(Set(schemas.map(\.fingerprint)).count == schemas.count)
  }

  @Test func `neighboring linear fields share their models, others do not`() {
    let x = EntityField.position(0...1, step: 0.1)
    let n = EntityField.integer(0...9)
    for (fields, sets) in [
      ([x, x, x], [0, 0, 0]), ([n, n], [0, 1]), ([x, n, x, x], [0, 1, 2, 2]),
    ] {
      let schema = EntitySchema(fields)
      #expect(schema.modelSets == sets && schema.modelSetCount == (sets.last ?? 0) + 1)
    }
    let wide = EntitySchema(Array(repeating: x, count: 9))
    // Id, tick, nine values, nine velocities and two words of activities.
    #expect(wide.stride == 22 && wide.activityWord == 20)
    #expect(EntitySchema(n, x).velocityWords == [-1, 4])
  }
}
