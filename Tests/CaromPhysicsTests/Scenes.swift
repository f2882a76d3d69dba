import Foundation

@testable import CaromPhysics

/// A pseudorandom number generator (SplitMix64).
struct Draws {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func bits() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func next(in range: ClosedRange<Double>) -> Double {
    range.lowerBound + (range.upperBound - range.lowerBound) * Double(bits() >> 11) * 0x1p-53
  }

  /// Returns a vector of the given length in a random direction. It uses no trigonometric
  /// functions, so that the result has the same bits on every platform.
  mutating func vector(length: Double) -> Vector {
    while true {
      let point = Vector(next(in: -1...1), next(in: -1...1))
      let squared = point.lengthSquared
      if squared > 0.01, squared <= 1 { return point * (length / squared.squareRoot()) }
    }
  }
}

/// Makes a gas: equal discs with equal speeds on a square grid in a closed square box.
func makeGas(_ input: JSON, seed: UInt64 = 1) -> Scene? {
  guard let count = input["discs"].double, let radius = input["r"].double,
    let speed = input["speed"].double, let fraction = input["area_fraction"].double
  else { return nil }
  return makeGas(
    count: Int(count), radius: radius, mass: input["m"].double ?? 0.03, speed: speed,
    areaFraction: fraction, surface: Surface(discRestitution: input["e"].double ?? 1), seed: seed)
}

func makeGas(
  count: Int, radius: Double, mass: Double, speed: Double, areaFraction: Double,
  surface: Surface = Surface(), seed: UInt64 = 1
) -> Scene {
  let half = (Double(count) * 3.141592653589793 * radius * radius / areaFraction).squareRoot() / 2
  let side = Int(Double(count).squareRoot().rounded(.up))
  let pitch = 2 * half / Double(side)
  var random = Draws(seed: seed)
  let discs = (0..<count).map { index in
    Disc(
      position: Vector(
        -half + pitch * (Double(index % side) + 0.5), -half + pitch * (Double(index / side) + 0.5)),
      velocity: random.vector(length: speed), radius: radius, mass: mass)
  }
  return Scene(
    table: Table(halfLength: half, halfWidth: half), surface: surface, discs: discs)
}

/// Returns the depth of the deepest overlap of two discs, in metres; negative if none overlap.
func largestOverlap(_ scene: Scene) -> Double {
  let discs = (0..<scene.count).map { scene[$0] }.sorted { $0.position.x < $1.position.x }
  let widest = 2 * (discs.map(\.radius).max() ?? 0)
  var worst = -Double.infinity
  for (index, disc) in discs.enumerated() {
    for other in discs[(index + 1)...] {
      if other.position.x - disc.position.x > widest { break }
      let distance = (disc.position - other.position).length
      worst = max(worst, disc.radius + other.radius - distance)
    }
  }
  return worst
}

/// Returns a hash of the exact bits of all positions and velocities.
func hash(of scene: Scene) -> UInt64 {
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for motion in scene.motions {
    for value in [
      motion.position.x, motion.position.y, motion.velocity.x, motion.velocity.y,
    ] {
      hash = (hash ^ value.bitPattern) &* 0x9FB2_1C65_1E98_DF25
      hash ^= hash >> 32
    }
  }
  return hash
}

extension Scene {
  /// The total momentum of the dynamic discs.
  var momentum: Vector {
    var sum = Vector.zero
    for id in motions.indices where inverseMasses[id] > 0 {
      sum += motions[id].velocity * (1 / inverseMasses[id])
    }
    return sum
  }
}
