/// Any number of discs on a table. A plain value: copying it saves it.
///
/// A `SceneSolver` moves it. It keeps no memory of contacts, so a restored scene goes on bit for
/// bit.
public struct Scene: Hashable, Sendable {
  /// Where the discs are.
  public let table: Table
  /// What contacts and sliding cost.
  public let surface: Surface
  /// Position and velocity of each disc; the index is the disc's id.
  public internal(set) var motions: [Motion]
  /// Radians a second of each disc.
  public internal(set) var spins: [Double]
  let radii: [Double]
  let inverseMasses: [Double]

  /// A scene of these discs.
  public init(table: Table, surface: Surface = Surface(), discs: [Disc]) {
    precondition(discs.count < Int(Int32.max) - 16, "ids fit 31 bits")
    self.table = table
    self.surface = surface
    motions = discs.map { Motion(position: $0.position, velocity: $0.velocity) }
    spins = discs.map(\.spin)
    radii = discs.map(\.radius)
    inverseMasses = discs.map(\.inverseMass)
  }

  /// Becomes equal to `other`, a scene of the same table and discs; allocates nothing.
  public mutating func copy(_ other: Scene) {
    precondition(radii.count == other.radii.count, "a scene of the same discs")
    motions.removeAll(keepingCapacity: true)
    motions.append(contentsOf: other.motions)
    spins.removeAll(keepingCapacity: true)
    spins.append(contentsOf: other.spins)
  }

  /// How many discs there are.
  public var count: Int { motions.count }

  /// A disc; its radius and mass stay what they were when it is set.
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

  /// Brings every position, velocity and spin to the nearest lattice value: the end of a tick in a
  /// game whose state has to be exact.
  public mutating func roundToLattice() {
    for id in motions.indices {
      motions[id] = Motion(
        position: Lattice.rounded(motions[id].position),
        velocity: Lattice.rounded(motions[id].velocity))
      spins[id] = Lattice.rounded(spins[id])
    }
  }

  /// The kinetic energy of the dynamic discs without their spin, joules.
  public var kineticEnergy: Double {
    var sum = 0.0
    for id in motions.indices where inverseMasses[id] > 0 {
      sum += 0.5 * motions[id].velocity.lengthSquared / inverseMasses[id]
    }
    return sum
  }
}
