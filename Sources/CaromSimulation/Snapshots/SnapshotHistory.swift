/// The views that may still be foretold from; memory of those that are done with is used again.
struct SnapshotHistory: Sendable {
  /// Views at most: a second of them at 60 Hz.
  static let limit = 64

  /// The views, in no order; only those with a tick in `ticks` count.
  var views: [SnapshotView] = []
  private(set) var ticks: [Tick?] = []

  /// Where the view of a tick is.
  func slot(of tick: Tick) -> Int? { ticks.firstIndex(of: tick) }

  /// A place for the view of a tick; where there is none left the oldest but `base` goes.
  mutating func makeSlot(for tick: Tick, keeping base: Tick?) -> Int {
    if let free = ticks.firstIndex(of: nil) {
      ticks[free] = tick
      return free
    }
    guard ticks.count == Self.limit else {
      ticks.append(tick)
      views.append(SnapshotView())
      return ticks.count - 1
    }
    var oldest = ticks[0] == base ? 1 : 0
    for slot in ticks.indices where ticks[slot] != base {
      if let one = ticks[slot], let other = ticks[oldest], one < other { oldest = slot }
    }
    ticks[oldest] = tick
    return oldest
  }

  /// Forgets the view in a slot.
  mutating func free(_ slot: Int) { ticks[slot] = nil }

  /// Forgets what nothing that is foretold from `base`, or from newer views, needs.
  mutating func prune(to base: SnapshotView) {
    for slot in ticks.indices {
      guard let tick = ticks[slot], tick < base.tick else { continue }
      if let older = base.base, tick > older { continue }
      ticks[slot] = nil
    }
  }

  /// Forgets everything.
  mutating func removeAll() {
    for slot in ticks.indices { ticks[slot] = nil }
  }
}
