import AirHockey
import BenchProbe
import CaromCore
import CaromSimulation

/// Counts the heap allocations of two peers that play with each other with a latency of three
/// ticks.
struct RollbackHeap {
  private static let delay = 3

  private var sessions = (0...1).map {
    RollbackSession(Rink(), RollbackConfiguration(local: $0, inputDelay: 0), at: .zero)
  }
  /// The packets in flight to each peer: a ring of writers that keep their capacity.
  private var lines: [[PacketWriter]]
  private var tick = 0
  private let inputs: [[RinkInput]]

  init(_ recording: RollbackRecording) {
    inputs = recording.inputs
    lines = (0...1).map { _ in
      (0...Self.delay).map { _ in PacketWriter(capacity: 1_024) }
    }
  }

  /// Measures the mean number of allocations in a tick of both peers.
  mutating func measure(ticks: Int) -> Double {
    run(ticks: 4_000)
    let before = bench_allocations()
    run(ticks: ticks)
    return Double(bench_allocations() - before) / Double(ticks)
  }

  private mutating func run(ticks: Int) {
    for _ in 0..<ticks {
      tick += 1
      let now = Instant(nanoseconds: Int64(tick) * 16_666_667)
      for player in 0...1 { step(player, now) }
    }
  }

  private mutating func step(_ player: Int, _ now: Instant) {
    arrive(at: player, now)
    sessions[player].advance(with: inputs[tick % inputs.count][player])
    while sessions[player].pollEvent() != nil {}
    let slot = tick % (Self.delay + 1)
    lines[1 - player][slot].removeAll()
    _ = sessions[player].pollTransmit(into: &lines[1 - player][slot])
  }

  private mutating func arrive(at player: Int, _ now: Instant) {
    let slot = (tick + 1) % (Self.delay + 1)
    guard lines[player][slot].count > 0 else { return }
    let bytes = lines[player][slot].bytes
    try? sessions[player].receive(.inputs, bytes.span, from: 1 - player, at: now)
  }
}
