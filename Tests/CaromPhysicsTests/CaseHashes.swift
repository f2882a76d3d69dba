import CaromPhysics

/// Hashes the exact bits of what a reference case of the physics results in.
/// `Tests/determinism.sh` and `Tests/webassembly.sh` build it, with the numbers that
/// `Tests/reference-hashes.py` makes of each case.
enum CaseHashes {
  /// The numbers of a case, read from the first to the last: the first one says what they are.
  private struct Numbers {
    var rest: ArraySlice<Double>

    mutating func next() -> Double { rest.removeFirst() }
    mutating func vector() -> Vector {
      let x = next()
      return Vector(x, next())
    }
  }

  private struct Hasher {
    var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ number: Double) {
      value = (value ^ number.bitPattern) &* 0x9FB2_1C65_1E98_DF25
      value ^= value >> 32
    }

    mutating func add(_ vector: Vector) {
      add(vector.x)
      add(vector.y)
    }

    mutating func add(_ disc: Disc) {
      add(disc.position)
      add(disc.velocity)
      add(disc.spin)
    }
  }

  static func hash(of case: [Double]) -> UInt64 {
    var numbers = Numbers(rest: `case`[...])
    var hasher = Hasher()
    switch Int(numbers.next()) {
    case 0: table(&numbers, &hasher)
    case 1: collision(&numbers, &hasher)
    case 2: rail(&numbers, &hasher)
    case 3: slide(&numbers, &hasher)
    case 4: circles(&numbers, &hasher)
    case 5: segment(&numbers, &hasher)
    case 6: interpolation(&numbers, &hasher)
    default: gas(&numbers, &hasher)
    }
    return hasher.value
  }

  // MARK: - Whole tables

  private static func table(_ numbers: inout Numbers, _ hasher: inout Hasher) {
    let table = Table(
      halfLength: numbers.next(), halfWidth: numbers.next(), goalHalfWidth: numbers.next())
    let surface = Surface(
      railRestitution: numbers.next(), discRestitution: numbers.next(),
      railFriction: numbers.next(),
      damping: Damping(drag: numbers.next(), deceleration: numbers.next()))
    let (step, steps) = (numbers.next(), Int(numbers.next()))
    var discs: [Disc] = []
    while !numbers.rest.isEmpty {
      var disc = Disc(
        position: numbers.vector(), velocity: numbers.vector(), spin: numbers.next(),
        radius: numbers.next(), mass: nil)
      disc.inverseMass = numbers.next()
      discs.append(disc)
    }
    run(Scene(table: table, surface: surface, discs: discs), step, steps, &hasher)
    let mallets = discs.filter { $0.isKinematic }
    guard discs.count == mallets.count + 1, mallets.count <= 2, surface.damping.deceleration == 0,
      var puck = discs.first(where: { !$0.isKinematic })
    else { return }
    let solver = SingleDiscSolver(table: table, surface: surface, step: step)
    let far = Disc(position: Vector(1_000, 1_000), radius: 0.05, mass: nil)
    var first = mallets.first ?? far
    var second = mallets.count == 2 ? mallets[1] : far
    for _ in 0..<steps {
      hasher.add(solver.advance(&puck, &first, &second).endTime)
      hasher.add(puck)
    }
  }

  private static func run(
    _ start: Scene, _ step: Double, _ steps: Int, _ hasher: inout Hasher
  ) {
    var scene = start
    var solver = SceneSolver()
    for _ in 0..<steps {
      hasher.add(solver.advance(&scene, by: step).time)
      for contact in solver.contacts { hasher.add(contact.time) }
      for id in 0..<scene.count { hasher.add(scene[id]) }
    }
  }

  /// Equal discs on a square grid in a closed box, with velocities that a generator draws.
  private static func gas(_ numbers: inout Numbers, _ hasher: inout Hasher) {
    let (count, side, half) = (Int(numbers.next()), Int(numbers.next()), numbers.next())
    let (radius, mass, speed) = (numbers.next(), numbers.next(), numbers.next())
    let (restitution, step, steps) = (numbers.next(), numbers.next(), Int(numbers.next()))
    var random: UInt64 = 1
    func draw() -> Double {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return speed * (Double(random >> 11) * 0x1p-52 - 1)
    }
    let pitch = 2 * half / Double(side)
    let discs = (0..<count).map { index in
      let (column, row) = (Double(index % side) + 0.5, Double(index / side) + 0.5)
      let velocity = Vector(draw(), draw())
      return Disc(
        position: Vector(pitch * column - half, pitch * row - half), velocity: velocity,
        radius: radius, mass: mass)
    }
    let table = Table(halfLength: half, halfWidth: half)
    let surface = Surface(discRestitution: restitution)
    run(Scene(table: table, surface: surface, discs: discs), step, steps, &hasher)
  }

  // MARK: - Single functions

  private static func collision(_ numbers: inout Numbers, _ hasher: inout Hasher) {
    let (m1, m2) = (numbers.next(), numbers.next())
    let (v1, v2, p1, p2) = (
      numbers.vector(), numbers.vector(), numbers.vector(), numbers.vector()
    )
    let after = Impulse.betweenDiscs(
      p1, v1, inverseMass: m1, p2, v2, inverseMass: m2, restitution: numbers.next())
    hasher.add(after.v1)
    hasher.add(after.v2)
  }

  private static func rail(_ numbers: inout Numbers, _ hasher: inout Hasher) {
    let (v, normal, spin) = (numbers.vector(), numbers.vector(), numbers.next())
    let (radius, restitution, friction) = (numbers.next(), numbers.next(), numbers.next())
    hasher.add(Impulse.atRail(v, normal: normal, restitution: restitution))
    let after = Impulse.atRail(
      v, spin: spin, radius: radius, normal: normal, restitution: restitution, friction: friction)
    hasher.add(after.velocity)
    hasher.add(after.spin)
    hasher.add(Impulse.slideSpeed(after.velocity, spin: after.spin, radius: radius, normal: normal))
  }

  private static func slide(_ numbers: inout Numbers, _ hasher: inout Hasher) {
    let (speed, distance) = (numbers.next(), numbers.next())
    let damping = Damping(drag: numbers.next(), deceleration: numbers.next())
    hasher.add(damping.stopTime(from: speed))
    hasher.add(damping.limitDistance(from: speed))
    hasher.add(damping.time(toSlide: distance, from: speed) ?? -1)
    while !numbers.rest.isEmpty {
      let time = numbers.next()
      hasher.add(damping.speed(after: time, from: speed))
      hasher.add(damping.distance(after: time, from: speed))
    }
  }

  private static func circles(_ numbers: inout Numbers, _ hasher: inout Hasher) {
    let (p1, v1, r1) = (numbers.vector(), numbers.vector(), numbers.next())
    let (p2, v2, r2) = (numbers.vector(), numbers.vector(), numbers.next())
    hasher.add(
      TimeOfImpact.circles(offset: p1 - p2, velocity: v1 - v2, distance: r1 + r2) ?? -1)
  }

  private static func segment(_ numbers: inout Numbers, _ hasher: inout Hasher) {
    let (p, v, r) = (numbers.vector(), numbers.vector(), numbers.next())
    let (a, b) = (numbers.vector(), numbers.vector())
    guard
      let contact = TimeOfImpact.circleSegment(position: p, velocity: v, radius: r, from: a, to: b)
    else { return hasher.add(-1) }
    hasher.add(contact.time)
    hasher.add(contact.normal)
    hasher.add(contact.position)
  }

  private static func interpolation(_ numbers: inout Numbers, _ hasher: inout Hasher) {
    let (p0, v0, p1, v1) = (
      numbers.vector(), numbers.vector(), numbers.vector(), numbers.vector()
    )
    let (interval, fraction) = (numbers.next(), numbers.next())
    let curve = Interpolation.hermite(p0, v0, p1, v1, interval: interval, fraction: fraction)
    hasher.add(Interpolation.linear(p0, p1, fraction: fraction))
    hasher.add(curve.position)
    hasher.add(curve.velocity)
  }
}
