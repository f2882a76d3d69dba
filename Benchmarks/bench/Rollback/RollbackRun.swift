import AirHockey
import CaromCore
import CaromSimulation
import CaromTesting

/// Every goal of rollback play with its figure.
struct RollbackRun {
  /// Minutes of the matches.
  var minutes: Int
  /// Seconds against the real clock.
  var loopSeconds: Int

  private(set) var goals: [SessionGoal] = []
  private(set) var remarks: [String] = []
  /// The exact counts by the names of the thresholds.
  private(set) var counts: [String: Double] = [:]

  init(minutes: Int, loopSeconds: Int) {
    self.minutes = minutes
    self.loopSeconds = loopSeconds
  }

  mutating func run() async {
    measureSpeed()
    measureDeterminism()
    measureSyncTest()
    measureMatch()
    measureDesync()
    measureServed()
    measureInterpolation()
    measureReconciliation()
    measureReplay()
    await measureLoop()
  }

  /// A figure that is at most its goal.
  mutating func goal(
    _ number: Int, _ what: String, _ figure: Double, _ unit: String, _ limit: Double
  ) {
    goals.append(SessionGoal("\(number). \(what)", figure, unit, .atMost, limit))
  }

  /// A figure that is at least its goal.
  mutating func goal(
    _ number: Int, _ what: String, _ figure: Double, _ unit: String, _ bound: SessionGoal.Bound,
    _ limit: Double
  ) {
    goals.append(SessionGoal("\(number). \(what)", figure, unit, bound, limit))
  }

  mutating func add(_ count: String, _ value: Double) { counts[count] = value }

  mutating func note(_ remark: String) { remarks.append(remark) }

  // MARK: Speed

  private mutating func measureSpeed() {
    progress("going back")
    let recording = RollbackRecording(ticks: 6_000, people: false).inputs
    let eight = RollbackSpeed.measure(Rink(), depth: 8, ticks: 6_000) { player, tick in
      recording[tick % recording.count][player]
    }
    goal(8, "rollback of 8 ticks, hockey", eight.microseconds, "us", 2)
    goal(8, "its heap allocations", eight.allocations, "", 0)
    add("rollbackAllocations", eight.allocations)
    let gas = RollbackSpeed.measure(RollbackGas(count: 1_000), depth: 8, ticks: 60) { _, tick in
      RollbackGas.Input(push: Int32(tick % 5) - 2)
    }
    goal(9, "rollback of 8 ticks, 1,000 discs", gas.microseconds / 1_000, "ms", 3)
    goal(9, "its heap allocations", gas.allocations, "", 0)
    let save = RollbackSpeed.copies(RollbackGas(count: 1_000), count: 20_000)
    goal(9, "saving 1,000 discs", save / 1_000, "us", 2)
    let thirty = RollbackSpeed.measure(Rink(), depth: 30, ticks: 6_000) { player, tick in
      recording[tick % recording.count][player]
    }
    goal(10, "rollback of 30 ticks, hockey", thirty.microseconds, "us", 10)
    let rewind = RollbackSpeed.rewinds(RollbackGas(count: 1_000), count: 20_000)
    goal(27, "rewind of the whole state, for each of 1,000 discs", rewind / 1e6, "us", 1)
    let history = LagCompensation(keeping: 128, of: Rink())
    goal(27, "history of a server", Double(history.capacity) / 60, "s", .atLeast, 1)
  }

  // MARK: Determinism

  private mutating func measureDeterminism() {
    progress("a million ticks with random rollbacks")
    let ticks = 1_000_000
    let recording = RollbackRecording(ticks: 6_000, people: false).inputs
    var plain = Rink()
    var rollback = Rollback(Rink(), players: 2, window: 30)
    var generator = SeededGenerator(seed: 11)
    var events: [RinkEvent] = []
    var differences = 0
    var known = 0
    for tick in 0..<ticks {
      let inputs = recording[tick % 6_000]
      plain.step(inputs.span, events: &events)
      events.removeAll(keepingCapacity: true)
      rollback.addInput(recording[tick % 6_000][0], for: 0)
      let target = max(known, tick - Int.random(in: 0...29, using: &generator))
      while known < target {
        rollback.addInput(recording[known % 6_000][1], for: 1)
        known += 1
      }
      rollback.advance()
      while rollback.pollEvent() != nil {}
    }
    while known < ticks {
      rollback.addInput(recording[known % 6_000][1], for: 1)
      known += 1
    }
    rollback.advance()
    if rollback.hash(at: Tick(UInt64(ticks))) != plain.hash { differences += 1 }
    goal(11, "differing hashes after 10^6 ticks with random rollbacks", Double(differences), "", 0)
    goal(11, "rollbacks in them", Double(rollback.statistics.rollbacks), "", .atLeast, 100_000)
  }

  private mutating func measureSyncTest() {
    progress("ten minutes with every tick rolled back")
    var test = SyncTest(Rink(), distance: 8)
    var goals = 0
    var failures = 0
    for input in RollbackRecording(ticks: 36_000, people: false).inputs {
      do {
        try test.step(input)
      } catch {
        failures += 1
        remarks.append("\(error)")
      }
      goals += test.events.contains { if case .goal = $0 { true } else { false } } ? 1 : 0
    }
    goal(12, "ten minutes, every tick rolled back by 8: failures", Double(failures), "", 0)
    goal(12, "rollbacks in them", Double(test.rollbacks), "", .atLeast, 35_000)
    goal(12, "goals in them", Double(goals), "", .atLeast, 1)
  }
}
