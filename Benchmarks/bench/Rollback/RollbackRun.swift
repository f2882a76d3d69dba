import AirHockey
import CaromCore
import CaromSimulation
import CaromTesting

/// Measures every goal of rollback play.
struct RollbackRun {
  /// The length of each match, in minutes.
  var minutes: Int
  /// The time for which the fixed step runs against the real clock, in seconds.
  var loopSeconds: Int

  private(set) var goals: [BenchmarkGoal] = []
  private(set) var remarks: [String] = []
  /// The exact counts, by their names in the thresholds file.
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

  /// Adds a figure that must be at most its goal.
  mutating func goal(
    _ number: Int, _ what: String, _ figure: Double, _ unit: String, _ limit: Double
  ) {
    goals.append(BenchmarkGoal("\(number). \(what)", figure, unit, .atMost, limit))
  }

  /// Adds a figure that must be at most or at least its goal.
  mutating func goal(
    _ number: Int, _ what: String, _ figure: Double, _ unit: String, _ bound: BenchmarkGoal.Bound,
    _ limit: Double
  ) {
    goals.append(BenchmarkGoal("\(number). \(what)", figure, unit, bound, limit))
  }

  mutating func add(_ count: String, _ value: Double) { counts[count] = value }

  mutating func addRemark(_ remark: String) { remarks.append(remark) }

  // MARK: Speed

  private mutating func measureSpeed() {
    progress("rollbacks")
    let recording = RollbackRecording(ticks: 6_000, people: false).inputs
    let eight = RollbackSpeed.measure(Rink(), depth: 8, ticks: 6_000) { player, tick in
      recording[tick % recording.count][player]
    }
    goal(8, "rollback of 8 ticks, hockey", eight.microseconds, "us", 2)
    goal(8, "heap allocations of that rollback", eight.allocations, "", 0)
    add("rollbackAllocations", eight.allocations)
    let gas = RollbackSpeed.measure(RollbackGas(count: 1_000), depth: 8, ticks: 60) { _, tick in
      RollbackGas.Input(push: Int32(tick % 5) - 2)
    }
    goal(9, "rollback of 8 ticks, 1,000 discs", gas.microseconds / 1_000, "ms", 3)
    goal(9, "heap allocations of that rollback", gas.allocations, "", 0)
    let save = RollbackSpeed.copies(RollbackGas(count: 1_000), count: 20_000)
    goal(9, "saving 1,000 discs", save / 1_000, "us", 2)
    let thirty = RollbackSpeed.measure(Rink(), depth: 30, ticks: 6_000) { player, tick in
      recording[tick % recording.count][player]
    }
    goal(10, "rollback of 30 ticks, hockey", thirty.microseconds, "us", 10)
    let rewind = RollbackSpeed.rewinds(RollbackGas(count: 1_000), count: 20_000)
    goal(27, "rewind of the whole state, for each of 1,000 discs", rewind / 1e6, "us", 1)
    let history = LagCompensation(keeping: 128, of: Rink())
    goal(27, "length of a server's history", Double(history.capacity) / 60, "s", .atLeast, 1)
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
    var received = 0
    for tick in 0..<ticks {
      let inputs = recording[tick % 6_000]
      plain.step(inputs.span, events: &events)
      events.removeAll(keepingCapacity: true)
      rollback.addInput(recording[tick % 6_000][0], for: 0)
      let target = max(received, tick - Int.random(in: 0...29, using: &generator))
      while received < target {
        rollback.addInput(recording[received % 6_000][1], for: 1)
        received += 1
      }
      rollback.advance()
      while rollback.pollEvent() != nil {}
    }
    while received < ticks {
      rollback.addInput(recording[received % 6_000][1], for: 1)
      received += 1
    }
    rollback.advance()
    if rollback.hash(at: Tick(UInt64(ticks))) != plain.hash { differences += 1 }
    goal(11, "differing hashes after 10^6 ticks with random rollbacks", Double(differences), "", 0)
    goal(11, "rollbacks in that run", Double(rollback.statistics.rollbacks), "", .atLeast, 100_000)
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
    goal(12, "rollbacks in that run", Double(test.rollbacks), "", .atLeast, 35_000)
    goal(12, "goals in that run", Double(goals), "", .atLeast, 1)
  }
}
