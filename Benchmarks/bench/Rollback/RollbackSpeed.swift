import AirHockey
import BenchProbe
import CaromCore
import CaromSimulation

/// Measures the time and the heap allocations of rollbacks, copies and rewinds.
enum RollbackSpeed {
  struct Figures {
    var microseconds: Double
    var allocations: Double
    var rollbacks: Int
  }

  /// Measures rollbacks in a game in which one player's inputs arrive `depth` ticks late, so that
  /// every tick rolls back that far. The closure `input` returns a player's input for a tick.
  static func measure<Game: Simulation>(
    _ game: Game, depth: Int, ticks: Int, input: (Int, Int) -> Game.Input
  ) -> Figures {
    var rollback = Rollback(game, players: 2, window: 30)
    var best = Double.infinity
    var (allocations, rollbacks) = (0 as UInt64, 0)
    for round in 0..<4 {
      var nanoseconds: UInt64 = 0
      var count = 0
      for tick in 0..<ticks {
        let at = round * ticks + tick
        rollback.addInput(input(0, at), for: 0)
        if at >= depth { rollback.addInput(input(1, at - depth), for: 1) }
        rollback.advance()
        while rollback.pollEvent() != nil {}
        guard rollback.confirmedTick.distance(to: rollback.tick) >= Int64(depth) else { continue }
        let heap = bench_allocations()
        let start = bench_thread_cpu_nanoseconds()
        rollback.rollBack(to: rollback.confirmedTick)
        nanoseconds += bench_thread_cpu_nanoseconds() - start
        if round > 0 { allocations += bench_allocations() - heap }
        if round > 0 { rollbacks += 1 }
        count += 1
      }
      best = min(best, Double(nanoseconds) / Double(max(1, count)) / 1_000)
    }
    return Figures(
      microseconds: best - clockCost / 1_000,
      allocations: Double(allocations) / Double(max(1, rollbacks)), rollbacks: rollbacks)
  }

  /// The time to read the thread's CPU clock once, in nanoseconds.
  static let clockCost: Double = {
    let start = bench_thread_cpu_nanoseconds()
    for _ in 0..<10_000 { _ = bench_thread_cpu_nanoseconds() }
    return Double(bench_thread_cpu_nanoseconds() - start) / 10_000
  }()

  /// Measures the time to save a state in the history, in nanoseconds.
  static func copies<Game: Simulation>(_ game: Game, count: Int) -> Double {
    var ring = LagCompensation(keeping: 64, of: game)
    for tick in 0..<64 as Range<UInt64> { ring.append(game, at: Tick(tick)) }
    let start = bench_thread_cpu_nanoseconds()
    for tick in 64..<UInt64(64 + count) { ring.append(game, at: Tick(tick)) }
    return Double(bench_thread_cpu_nanoseconds() - start) / Double(count)
  }

  /// Measures the time to rewind a whole state, in nanoseconds.
  static func rewinds<Game: Simulation>(_ game: Game, count: Int) -> Double {
    var ring = LagCompensation(keeping: 64, of: game)
    for tick in 0..<64 as Range<UInt64> { ring.append(game, at: Tick(tick)) }
    var judged = game
    _ = ring.rewind(&judged, to: Tick(1))
    let start = bench_thread_cpu_nanoseconds()
    for index in 0..<count { _ = ring.rewind(&judged, to: Tick(UInt64(index % 64))) }
    return Double(bench_thread_cpu_nanoseconds() - start) / Double(count)
  }
}
