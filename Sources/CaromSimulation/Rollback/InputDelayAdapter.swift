import CaromCore

/// Chooses a player's input delay: as short as the path and the prediction window allow.
///
/// Prediction hides a round-trip time of up to the prediction window. The input delay must cover
/// the rest of the round trip; otherwise, the game stalls and the inputs arrive late. A stall
/// increases the delay by one tick, since a small constant delay is less noticeable than stalls.
/// After a long time without a stall, the delay decreases again by one tick.
struct InputDelayAdapter: Sendable {
  /// The expected latency in addition to that of the path, in ticks: a server's input buffer, and
  /// the recovery from losses.
  static let reserve = 8
  /// The minimum number of ticks between two increases.
  static let raiseInterval = 15
  /// The number of ticks without a stall after which the delay decreases by one tick.
  static let lowerInterval = 600

  /// The part of the input delay that follows from the estimated latency, in ticks.
  private var base = 0
  /// The part of the input delay that was added after stalls, in ticks.
  private var added = 0
  /// The number of stalls at the last change of `added`, and the number of ticks since then.
  private var stalls = (count: 0, ticks: 0)
  /// The number of ticks since inputs arrived.
  private var silentTicks = 0

  /// Returns the input delay in ticks, at least `least`.
  func delay(atLeast least: Int) -> Int {
    min(max(least, base) + added, SimulationLimits.inputDelay)
  }

  /// Adapts the delay to a new estimate of the round-trip time.
  mutating func update(roundTrip: Duration, rate: Int, window: Int) {
    let milliseconds = min(max(0, roundTrip.wholeNanoseconds) / 1_000_000, 10_000)
    update(latency: Int(milliseconds) * rate / 1_000, window: window)
  }

  /// Adapts the delay to a new estimate of the time, in ticks, for which the inputs of the other
  /// players must be predicted.
  mutating func update(latency: Int, window: Int) {
    let needed = max(0, latency + Self.reserve - window)
    // Decreases of one or two ticks are ignored, because they are within the usual variation of the
    // round-trip time.
    guard needed > base || needed < base - 2 else { return }
    base = needed
  }

  /// Records that inputs have arrived.
  mutating func recordArrival() { silentTicks = 0 }

  /// Adapts the delay to the number of stalls so far. Call this method once per tick.
  mutating func tick(stalls count: Int) {
    stalls.ticks += 1
    silentTicks += 1
    // While nothing arrives, the game stalls with any delay.
    if silentTicks >= Self.raiseInterval { stalls.count = count }
    if count != stalls.count, stalls.ticks >= Self.raiseInterval {
      stalls = (count, 0)
      added = min(added + 1, SimulationLimits.inputDelay)
    } else if stalls.ticks >= Self.lowerInterval, added > 0 {
      stalls.ticks = 0
      added -= 1
    }
  }

  /// Records that the game was restarted, so that its number of stalls starts again at 0.
  mutating func restart() { stalls.count = 0 }
}
