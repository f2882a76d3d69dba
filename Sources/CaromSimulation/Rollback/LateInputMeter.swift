/// Detects that a player's inputs keep arriving late: within one second, at least half of the
/// inputs were missing when they were needed.
struct LateInputMeter: Sendable {
  /// Whether at least half of the inputs in the last complete second were late.
  private(set) var isLate = false
  private var ticks = 0
  private var late = 0

  /// Records a tick and the number of late inputs since the previous tick. `rate` is the number of
  /// ticks per second.
  mutating func recordTick(lateInputs: Int, rate: Int) {
    ticks += 1
    late += lateInputs
    guard ticks >= rate else { return }
    isLate = 2 * late >= ticks
    (ticks, late) = (0, 0)
  }
}
