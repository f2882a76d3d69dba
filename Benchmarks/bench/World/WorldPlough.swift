import CaromPhysics
import CaromSimulation
import Foundation

/// A plough that moves through 900 discs, which lie in a square and slide to a stop: 901 entities
/// on a lattice of 1/512 m.
struct WorldPlough {
  static let schema = EntitySchema(
    .position(-64...63.99, step: 1.0 / 512), .position(-64...63.99, step: 1.0 / 512))

  private var scene: Scene
  private var solver = SceneSolver(recordsContacts: false)
  private var time = 0.0

  init() {
    var discs = [Disc(position: Vector(0, -16), velocity: .zero, radius: 0.8, mass: nil)]
    for index in 0..<900 {
      let place = Vector(Double(index % 30) - 14.5, Double(index / 30) - 14.5)
      discs.append(Disc(position: place, velocity: .zero, radius: 0.2, mass: 1))
    }
    scene = Scene(
      table: Table(halfLength: 60, halfWidth: 60),
      surface: Surface(
        railRestitution: 0.5, discRestitution: 0.5, damping: Damping(drag: 0.5, deceleration: 0.9)),
      discs: discs)
  }

  var count: Int { scene.count }

  /// Returns the frames of the whole scene over `ticks` ticks.
  static func trace(ticks: Int) -> SnapshotTrace {
    var plough = WorldPlough()
    var trace = SnapshotTrace(schema: schema, hertz: 60)
    for _ in 0..<ticks {
      plough.advance()
      var table = EntityTable(schema: schema)
      for index in 0..<plough.count { table.append(UInt32(index), plough.values(index)) }
      trace.frames.append(table)
    }
    return trace
  }

  mutating func advance() {
    time += 1.0 / 60
    // The plough follows a closed curve with many loops through the square.
    let wanted = Vector(16 * cos(0.7 * time - 1.57), 16 * sin(1.06 * time - 1.57))
    var plough = scene[0]
    plough.velocity = (wanted - plough.position) * 60
    scene[0] = plough
    _ = solver.advance(&scene, by: 1.0 / 60)
  }

  func values(_ index: Int) -> [Int64] {
    let place = scene.motions[index].position
    return [Self.schema.fields[0].quantized(place.x), Self.schema.fields[1].quantized(place.y)]
  }
}
