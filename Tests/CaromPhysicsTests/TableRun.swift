@testable import CaromPhysics

/// A simulation of the scene of a reference case.
struct TableRun {
  /// A contact with its time since the start of the run.
  struct Event {
    var time: Double
    var contact: Contact
  }

  var scene: Scene
  var solver: SceneSolver
  var endTime = 0.0
  var events: [Event] = []
  var pinned = 0
  let duration: Double

  init?(_ input: JSON, contactLimit: Int = 100_000) {
    guard let table = makeTable(input), let duration = input["T"].double,
      let list = input["discs"].list
    else { return nil }
    let discs = list.compactMap(makeDisc)
    guard discs.count == list.count else { return nil }
    self.duration = duration
    scene = Scene(table: table, surface: makeSurface(input), discs: discs)
    solver = SceneSolver(contactLimit: contactLimit)
  }

  /// Runs until the end or the first goal, in steps of `step` seconds and a shorter last step.
  mutating func run(step: Double) {
    let whole = Int(duration / step + 1e-9)
    for index in 0..<whole {
      guard advance(by: step, from: Double(index) * step) else { return }
    }
    let rest = duration - Double(whole) * step
    if rest > 1e-12 { _ = advance(by: rest, from: Double(whole) * step) }
    endTime = duration
  }

  /// Advances by one step. Returns false if a goal ended the run.
  private mutating func advance(by step: Double, from start: Double) -> Bool {
    let outcome = solver.advance(&scene, by: step)
    for contact in solver.contacts {
      events.append(Event(time: start + contact.time, contact: contact))
    }
    pinned += outcome.pinnedCount
    endTime = start + outcome.time
    return !outcome.endedByGoal
  }
}

func makeTable(_ input: JSON) -> Table? {
  guard let hx = input["hx"].double, let hy = input["hy"].double else { return nil }
  return Table(halfLength: hx, halfWidth: hy, goalHalfWidth: input["g"].double ?? 0)
}

func makeSurface(_ input: JSON) -> Surface {
  Surface(
    railRestitution: input["e_w"].double ?? 1, discRestitution: input["e_d"].double ?? 1,
    railFriction: input["mu_w"].double ?? 0, damping: makeDamping(input))
}

/// Makes a disc of a reference case. A disc with a mass of null is kinematic.
func makeDisc(_ json: JSON) -> Disc? {
  guard let position = json["p"].vector, let radius = json["r"].double else { return nil }
  return Disc(
    position: position, velocity: json["v"].vector ?? .zero, spin: json["w"].double ?? 0,
    radius: radius, mass: json["m"].double)
}
