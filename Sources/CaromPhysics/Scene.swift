/// Any number of discs on a table, moved by a `SceneSolver`.
///
/// A scene is the complete state of the simulation: a copy continues with bit-identical results.
public struct Scene: Hashable, Sendable {
  /// The table on which the discs move.
  public let table: Table
  /// The restitution, friction and damping of the table and the discs.
  public let surface: Surface
  /// The position and velocity of each disc, indexed by the disc's id.
  public internal(set) var motions: [Motion]
  /// The angular velocity of each disc in radians per second, indexed by the disc's id.
  public internal(set) var spins: [Double]
  let radii: [Double]
  let inverseMasses: [Double]

  /// Creates a scene with the given discs. A disc's id is its index in `discs`.
  public init(table: Table, surface: Surface = Surface(), discs: [Disc]) {
    precondition(discs.count < Int(Int32.max) - 16, "too many discs: ids must fit in 31 bits")
    self.table = table
    self.surface = surface
    motions = discs.map { Motion(position: $0.position, velocity: $0.velocity) }
    spins = discs.map { $0.spin }
    radii = discs.map { $0.radius }
    inverseMasses = discs.map { $0.inverseMass }
  }

  /// Copies the motion of all discs from `other`, a scene with the same table and discs, without
  /// allocating memory.
  public mutating func copy(_ other: Scene) {
    precondition(radii.count == other.radii.count, "both scenes must have the same discs")
    motions.removeAll(keepingCapacity: true)
    motions.append(contentsOf: other.motions)
    spins.removeAll(keepingCapacity: true)
    spins.append(contentsOf: other.spins)
  }

  /// The number of discs.
  public var count: Int { motions.count }

  /// Accesses the disc with the given id. Setting it changes the disc's motion and spin, but not
  /// its radius or mass.
  public subscript(id: Int) -> Disc {
    get {
      var disc = Disc(
        position: motions[id].position, velocity: motions[id].velocity, spin: spins[id],
        radius: radii[id], mass: nil)
      disc.inverseMass = inverseMasses[id]
      return disc
    }
    set {
      motions[id] = Motion(position: newValue.position, velocity: newValue.velocity)
      spins[id] = newValue.spin
    }
  }

  /// Rounds all positions, velocities and spins to the lattice (see `Lattice`), as a game with
  /// exact state does at the end of each tick.
  public mutating func roundToLattice() {
    for id in motions.indices {
      motions[id] = Motion(
        position: Lattice.rounded(motions[id].position),
        velocity: Lattice.rounded(motions[id].velocity))
      spins[id] = Lattice.rounded(spins[id])
    }
  }

  /// The translational kinetic energy of the dynamic discs, in joules.
  public var kineticEnergy: Double {
    var sum = 0.0
    for id in motions.indices where inverseMasses[id] > 0 {
      sum += 0.5 * motions[id].velocity.lengthSquared / inverseMasses[id]
    }
    return sum
  }
}
