import CaromCore
import CaromSimulation

/// A test world: entities of a random schema that jump, glide, rest, enter and leave.
struct SnapshotWorld {
  struct Entity {
    var values: [Int64]
    var steps: [Int64]
  }

  let schema: EntitySchema
  private var entities: [UInt32: Entity] = [:]
  private var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    schema = Self.makeSchema(&generator)
  }

  private static func makeSchema(_ generator: inout SeededGenerator) -> EntitySchema {
    let fields = (0..<Int.random(in: 1...10, using: &generator)).map { _ in
      let width = Int64.random(in: 0...47, using: &generator)
      let low = -Int64.random(in: 0...(1 << 46), using: &generator)
      let wraps = generator.chance(0.3)
      return EntityField(
        low...(low + (1 << width) - Int64.random(in: 0...min(1, width), using: &generator)),
        prediction: generator.chance(0.6) ? .linear : .held, wraps: wraps)
    }
    return EntitySchema(fields)
  }

  mutating func advance() {
    if generator.chance(0.3) || entities.isEmpty { enter() }
    if generator.chance(0.2), let id = entities.keys.sorted().randomElement(using: &generator) {
      entities[id] = nil
    }
    for id in entities.keys.sorted() { move(id) }
  }

  private mutating func enter() {
    let id = UInt32.random(in: 0...(generator.chance(0.1) ? .max : 200), using: &generator)
    let values = schema.fields.map {
      Int64.random(in: $0.lowerBound...$0.upperBound, using: &generator)
    }
    entities[id] = Entity(values: values, steps: values.map { _ in 0 })
  }

  private mutating func move(_ id: UInt32) {
    guard var entity = entities[id] else { return }
    if generator.chance(0.1) {
      entity.steps = entity.steps.map { _ in
        generator.chance(0.4) ? 0 : Int64.random(in: -40...40, using: &generator)
      }
    }
    for (index, field) in schema.fields.enumerated() {
      let jumps = generator.chance(0.02)
      let next =
        jumps
        ? Int64.random(in: field.lowerBound...field.upperBound, using: &generator)
        : entity.values[index] + entity.steps[index]
      entity.values[index] = min(max(next, field.lowerBound), field.upperBound)
    }
    entities[id] = entity
  }

  var table: EntityTable {
    var table = EntityTable(schema: schema)
    for (id, entity) in entities.sorted(by: { $0.key < $1.key }) { table.append(id, entity.values) }
    return table
  }
}
