/// Detects that a player's inputs keep arriving late: that at least half of the inputs of a second
/// were missing when the server needed them.
struct LateInputMeter: Sendable {
  /// Whether the inputs of the last complete second were late.
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
