import AirHockey
import CaromCore
import CaromPhysics
import CaromSimulation

/// Equal discs in a closed box that players push. A thousand discs are the largest state for which
/// rollback has a goal.
struct RollbackGas: Simulation {
  /// The input of one player: a push along the x-axis.
  struct Input: SimulationInput {
    var push: Int32 = 0

    static var fieldCount: Int { 1 }
    init() {}
    init(push: Int32) { self.push = push }
    init(fields: Span<Int32>) throws(DecodeError) { push = fields[0] }
    func field(_ index: Int) -> Int32 { push }
  }

  private(set) var scene: Scene
  private var solver = SceneSolver(recordsContacts: false)

  init(count: Int) {
    scene = .gas(of: count)
  }

  mutating func step(_ inputs: Span<Input>, events: inout [Never]) {
    for player in inputs.indices where inputs[player].push != 0 {
      scene[player].velocity.x += Double(inputs[player].push) * 0x1p-10
    }
    solver.advance(&scene, by: 1.0 / 60)
  }

  var hash: UInt64 {
    var hash = StateHash()
    for id in 0..<scene.count {
      let motion = scene.motions[id]
      hash.combine(motion.position.x.bitPattern)
      hash.combine(motion.position.y.bitPattern)
      hash.combine(motion.velocity.x.bitPattern)
      hash.combine(motion.velocity.y.bitPattern)
    }
    return hash.value
  }

  /// Copies only the scene, because the solver's caches do not affect its results.
  mutating func copy(_ other: RollbackGas) { scene.copy(other.scene) }
}

/// A simulated human hand on a mallet, with eight or nine changes of direction a second, smooth
/// movement between them, and a tremor of a fifth of a millimeter.
struct RollbackHand {
  private let seat: Seat
  private var generator: SeededGenerator
  private var from: Vector
  private var to: Vector
  private var step = 0
  private var steps = 1

  init(_ seat: Seat, seed: UInt64) {
    self.seat = seat
    generator = SeededGenerator(seed: seed)
    from = Vector(seat.side * 0.5, 0)
    to = from
  }

  mutating func next() -> MalletInput {
    step += 1
    if step > steps { turn() }
    let u = Double(step) / Double(steps)
    let progress = u * u * u * (10 - 15 * u + 6 * u * u)
    let tremor = Vector(gauss() * 0.000_2, gauss() * 0.000_2)
    return MalletInput(from + (to - from) * progress + tremor)
  }

  private mutating func turn() {
    from = to
    step = 1
    steps = Int.random(in: 4...11, using: &generator)
    let x = (from.x * seat.side + gauss() * 0.06)
    to = Vector(
      seat.side * min(max(x, 0.1), 0.9), min(max(from.y + gauss() * 0.09, -0.45), 0.45))
  }

  private mutating func gauss() -> Double {
    (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0...1, using: &generator) }
  }
}

/// The recorded inputs of every tick of a match.
struct RollbackRecording {
  let inputs: [[RinkInput]]

  /// Records a match of computer players, or of simulated hands if `people` is true.
  init(ticks: Int, people: Bool, seed: UInt64 = 1) {
    var rink = Rink()
    var computers = (
      ComputerPlayer(.home, strength: .hard, seed: seed), ComputerPlayer(.away, seed: seed + 1)
    )
    var hands = (RollbackHand(.home, seed: seed), RollbackHand(.away, seed: seed + 1))
    var events: [RinkEvent] = []
    var inputs: [[RinkInput]] = []
    for _ in 0..<ticks {
      let mallets =
        people
        ? (hands.0.next(), hands.1.next())
        : (computers.0.input(for: rink.state), computers.1.input(for: rink.state))
      var request: RinkInput.Request?
      if case .matchEnd = rink.state.phase { request = .startMatch }
      let both = [RinkInput(mallets.0, request: request), RinkInput(mallets.1)]
      inputs.append(both)
      rink.step(both.span, events: &events)
      events.removeAll(keepingCapacity: true)
    }
    self.inputs = inputs
  }
}
