/// The views on which later snapshots may be based. The memory of released views is reused.
struct SnapshotHistory: Sendable {
  /// The maximum number of views: one second at 60 Hz.
  static let limit = 64

  /// The views, in no particular order. A slot is in use if it has a tick in `ticks`.
  var views: [SnapshotView] = []
  private(set) var ticks: [Tick?] = []

  /// Returns the slot that holds the view of a tick, or nil if none does.
  func slot(of tick: Tick) -> Int? { ticks.firstIndex(of: tick) }

  /// Returns a newly allocated slot for the view of a tick. If all slots are in use, the oldest
  /// view is replaced, except the view of tick `base`.
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

  /// Releases a slot.
  mutating func free(_ slot: Int) { ticks[slot] = nil }

  /// Releases the views that are no longer needed when all further snapshots are based on `base` or
  /// on a newer view.
  mutating func prune(to base: SnapshotView) {
    for slot in ticks.indices {
      guard let tick = ticks[slot], tick < base.tick else { continue }
      if let older = base.base, tick > older { continue }
      ticks[slot] = nil
    }
  }

  /// Releases all views.
  mutating func removeAll() {
    for slot in ticks.indices { ticks[slot] = nil }
  }
}
