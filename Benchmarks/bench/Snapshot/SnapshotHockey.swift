import CaromPhysics
import CaromSimulation

/// A synthetic match on a lattice of 0.5 mm: a puck with the game's physics between two simulated
/// hands.
enum SnapshotHockey {
  /// The spacing of the lattice, in meters.
  static let step = 0.0005

  static let schema = EntitySchema(
    .position(-1.024...1.0235, step: step), .position(-0.512...0.5115, step: step))

  /// Returns the positions of the puck and of the home and away mallets in every tick.
  static func trace(hertz: Int, seconds: Int, seed: UInt64 = 1) -> SnapshotTrace {
    var trace = SnapshotTrace(schema: schema, hertz: hertz)
    let solver = SingleDiscSolver(
      table: Table(halfLength: 0.974, halfWidth: 0.519),
      surface: Surface(
        railRestitution: 0.93, discRestitution: 0.93, railFriction: 0.12,
        damping: Damping(drag: 0.23)),
      step: 1 / Double(hertz), speedCap: 15)
    var hands = [SnapshotHand(side: -1, seed: 2 * seed), SnapshotHand(side: 1, seed: 2 * seed + 1)]
    var puck = Disc(position: .zero, velocity: Vector(1, 0.3), radius: 0.03165, mass: 0.01)
    var home = mallet(-1)
    var away = mallet(1)
    for tick in 1...hertz * seconds {
      let time = Double(tick) / Double(hertz)
      let wanted = hands.indices.map { hands[$0].place(at: time, puck: puck.position) }
      home.velocity = (wanted[0] - home.position) * Double(hertz)
      away.velocity = (wanted[1] - away.position) * Double(hertz)
      _ = solver.advance(&puck, &home, &away)
      if puck.velocity.length < 0.05 { puck.velocity = Vector(tick % 2 == 0 ? 1 : -1, 0.3) }
      var table = EntityTable(schema: schema)
      for (id, disc) in [puck, home, away].enumerated() {
        table.append(
          UInt32(id),
          [
            schema.fields[0].quantized(disc.position.x),
            schema.fields[1].quantized(disc.position.y),
          ])
      }
      trace.frames.append(table)
    }
    return trace
  }

  /// Returns the same match reduced to the opponent's mallet, as for a client that simulates
  /// everything else.
  static func opponent(of match: SnapshotTrace) -> SnapshotTrace {
    var trace = SnapshotTrace(schema: match.schema, hertz: match.hertz)
    trace.frames = match.frames.map { frame in
      var table = EntityTable(schema: match.schema)
      table.append(2, [frame.value(0, at: 2), frame.value(1, at: 2)])
      return table
    }
    return trace
  }

  private static func mallet(_ side: Double) -> Disc {
    Disc(position: Vector(0.7 * side, 0), velocity: .zero, radius: 0.04815, mass: nil)
  }
}
