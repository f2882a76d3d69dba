@testable import CaromPhysics

extension Verdict {
  /// Checks a simulation of a whole table: in one step, in steps of 1/60 s, and with a
  /// `SingleDiscSolver` if that supports the scene.
  mutating func tableRun(_ input: JSON, _ expect: JSON) {
    guard let run = TableRun(input) else { return fail("input is incomplete") }
    let exact = tolerance
    // Each step adds a rounding error, which scenes with many discs amplify without bound.
    let isChaotic = run.scene.inverseMasses.count { $0 > 0 } > 2
    for (name, step) in [("one step", run.duration), ("1/60 s", 1.0 / 60)] {
      tolerance = isChaotic && step < run.duration ? 10 * exact : exact
      var run = run
      run.run(step: step)
      check("t_end", run.endTime, in: expect)
      checkDiscs((0..<run.scene.count).map { run.scene[$0] }, expect, name)
      checkEvents(run.events, expect, name)
      require(run.pinned == 0, "\(name): \(run.pinned) discs were pinned")
    }
    tolerance = exact
    singleDiscRun(run, expect)
  }

  private mutating func checkDiscs(_ discs: [Disc], _ expect: JSON, _ name: String) {
    guard let list = expect["discs"].list else { return }
    require(list.count == discs.count, "\(list.count) discs are expected")
    for (id, (disc, json)) in zip(discs, list).enumerated() {
      check("\(name): p of disc \(id)", disc.position, in: json, key: "p")
      check("\(name): v of disc \(id)", disc.velocity, in: json, key: "v")
      check("\(name): w of disc \(id)", disc.spin, in: json, key: "w")
    }
  }

  /// Compares events with their expectations. Simultaneous events may be in any order.
  private mutating func checkEvents(_ events: [TableRun.Event], _ expect: JSON, _ name: String) {
    if let count = expect["event_count"].double {
      require(Double(events.count) == count, "\(name): \(events.count) events, expected \(count)")
    }
    guard let list = expect["events"].list else { return }
    require(events.count >= list.count, "\(name): \(events.count) events of \(list.count)")
    var left = events
    for json in list {
      guard let time = json["t"].double,
        let place = left.firstIndex(where: {
          ($0.time - time).magnitude <= tolerance && isSame($0.contact, json)
        })
      else {
        fail("\(name): no event \(json)")
        continue
      }
      left.remove(at: place)
    }
  }

  private func isSame(_ contact: Contact, _ json: JSON) -> Bool {
    guard json["disc"].double == nil || json["disc"].double == Double(contact.disc) else {
      if case .disc(let other) = contact.kind {
        return json["disc"].double == Double(other) && json["other"].double == Double(contact.disc)
      }
      return false
    }
    switch (contact.kind, json["kind"].text) {
    case (.railX, "rail_x"), (.railY, "rail_y"), (.post, "post"): return true
    case (.goal(let side), "goal"):
      guard let expected = json["side"].double else { return true }
      return (side > 0) == (expected > 0)
    case (.disc(let other), "disc"):
      return json["other"].double == nil || json["other"].double == Double(other)
    default: return false
    }
  }

  /// Checks that a `SingleDiscSolver` agrees, for scenes with one dynamic disc and at most two
  /// kinematic ones.
  private mutating func singleDiscRun(_ run: TableRun, _ expect: JSON) {
    let discs = (0..<run.scene.count).map { run.scene[$0] }
    let pucks = discs.indices.filter { !discs[$0].isKinematic }
    let mallets = discs.filter(\.isKinematic)
    guard let puckID = pucks.first, pucks.count == 1, mallets.count <= 2,
      run.scene.surface.damping.deceleration == 0
    else { return }
    let far = Disc(position: Vector(1_000, 1_000), radius: 0.05, mass: nil)
    var first = mallets.first ?? far
    var second = mallets.dropFirst().first ?? far
    var puck = discs[puckID]
    var time = 0.0
    while time < run.duration - 1e-12 {
      let step = min(1.0 / 60, run.duration - time)
      let solver = SingleDiscSolver(table: run.scene.table, surface: run.scene.surface, step: step)
      let touches = solver.advance(&puck, &first, &second)
      time += touches.endTime
      if touches.goal != 0 { break }
    }
    check("SingleDiscSolver: t_end", time, in: expect, key: "t_end")
    if let json = expect["discs"].list?[puckID] {
      check("SingleDiscSolver: p", puck.position, in: json, key: "p")
      check("SingleDiscSolver: v", puck.velocity, in: json, key: "v")
      check("SingleDiscSolver: w", puck.spin, in: json, key: "w")
    }
  }
}
