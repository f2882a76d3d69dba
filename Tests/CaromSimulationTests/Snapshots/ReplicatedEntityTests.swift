import CaromCore
import CaromSimulation
import Testing

/// A game-specific type that is replicated.
private struct Tank: ReplicatedEntity, Equatable {
  var x, y, heading: Double
  var health: Int
  var isFiring: Bool

  static let schema = EntitySchema(
    .position(0...500, step: 0.25), .position(0...500, step: 0.25), .angle(bits: 8),
    .integer(0...100), .flag)

  func encode(into fields: inout EntityFieldWriter) {
    fields.write(x)
    fields.write(y)
    fields.write(heading)
    fields.write(health)
    fields.write(isFiring)
  }

  init(decoding fields: inout EntityFieldReader) {
    (x, y, heading) = (fields.read(), fields.read(), fields.read())
    (health, isFiring) = (fields.read(), fields.read())
  }

  init(x: Double, y: Double, heading: Double, health: Int, isFiring: Bool) {
    (self.x, self.y, self.heading) = (x, y, heading)
    (self.health, self.isFiring) = (health, isFiring)
  }
}

@Suite struct ReplicatedEntityTests {
  @Test func `a game's own struct of five fields is replicated`() throws {
    var sender = SnapshotSender(schema: Tank.schema)
    var receiver = SnapshotReceiver(schema: Tank.schema)
    for tick in 1...20 {
      let tank = Tank(x: Double(tick), y: 20.5, heading: 0, health: 90, isFiring: tick % 2 == 0)
      var entities = EntityTable(schema: Tank.schema)
      entities.append(7, tank)

      let bytes = sender.encode(entities, at: Tick(UInt64(tick)))
      try receiver.receive(bytes.span)
      sender.acknowledge(receiver.acknowledgement)

      #expect(receiver.entities.entity(Tank.self, at: 0) == tank)
      if tick > 5 { #expect(bytes.count <= 4) }
    }
  }

  @Test func `values out of bounds are clamped`() {
    var entities = EntityTable(schema: Tank.schema)
    entities.append(1, Tank(x: -5, y: 900, heading: -.pi, health: 300, isFiring: true))
    #expect(entities.values == [0, 2_000, 128, 100, 1])
  }
}
