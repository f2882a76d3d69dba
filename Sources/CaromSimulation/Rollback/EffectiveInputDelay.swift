/// The input delay that a client uses. It follows the one that is wanted.
///
/// A longer delay applies at once. A shorter one would let all further inputs arrive later by the
/// difference, of which some would be too late. Therefore the delay decreases by one tick at a
/// time, and only after the client's clock has got ahead by one tick.
struct EffectiveInputDelay: Sendable {
  /// The number of ticks of the server's filter, after which its reports show what has changed.
  private static let filterTicks = 32
  /// The part of the tick by which the clock must be ahead before the delay decreases. The rest
  /// would take long, because the clock's speed is proportional to what is missing.
  private static let sufficientLead = 0.75

  /// The delay in ticks.
  private(set) var ticks = 0
  /// The number of ticks until the server's reports show the effect of the last decrease.
  private var unreportedTicks = 0

  /// Brings the delay nearer to `wanted`, and sets how far `lead` must get ahead for it. Call this
  /// method once per tick. `roundTrip` is in ticks.
  mutating func follow(_ wanted: Int, _ lead: inout ClockLead, roundTrip: Int) {
    unreportedTicks = max(0, unreportedTicks - 1)
    guard wanted < ticks, let margin = lead.arrivalMargin else {
      ticks = wanted
      if unreportedTicks == 0 { lead.surplus = 0 }
      return
    }
    lead.surplus = 1
    guard unreportedTicks == 0, margin >= lead.buffer + Self.sufficientLead else { return }
    ticks -= 1
    unreportedTicks = roundTrip + Self.filterTicks
  }
}
