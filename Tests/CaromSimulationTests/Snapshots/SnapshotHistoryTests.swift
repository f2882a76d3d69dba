import CaromCore
import Testing

@testable import CaromSimulation

/// The views of earlier snapshots that both ends store, and how they are merged.
@Suite struct SnapshotHistoryTests {
  /// A history with the views of `ticks`.
  private func makeHistory(_ ticks: some Sequence<UInt64>) -> SnapshotHistory {
    var history = SnapshotHistory()
    for tick in ticks {
      let slot = history.makeSlot(for: Tick(tick), keeping: nil)
      history.views[slot].tick = Tick(tick)
    }
    return history
  }

  private func ticks(_ history: SnapshotHistory) -> [UInt64] {
    history.ticks.compactMap { $0?.rawValue }.sorted()
  }

  @Test func `each tick has a slot of its own, and free slots are used again`() {
    var history = makeHistory(1...3)
    #expect((1...3).map { history.slot(of: Tick($0)) } == [0, 1, 2])
    #expect(history.slot(of: Tick(4)) == nil)
    history.free(1)
    #expect(history.slot(of: Tick(2)) == nil && ticks(history) == [1, 3])
    let slots = [5, 6].map { history.makeSlot(for: Tick($0), keeping: nil) }
    #expect(slots == [1, 3] && history.views.count == 4)
    history.removeAll()
    #expect(ticks(history) == [] && history.views.count == 4)
    let next = history.makeSlot(for: Tick(9), keeping: nil)
    #expect(next == 0)
  }

  @Test func `of 64 views the oldest makes room, but never the one that is kept`() {
    for (kept, lost) in [(nil, 1), (1, 2), (2, 1), (64, 1)] as [(UInt64?, UInt64)] {
      // The order in the history does not matter.
      var history = makeHistory((1...64).reversed())
      let slot = history.makeSlot(for: Tick(65), keeping: kept.map { Tick($0) })
      #expect(slot == 64 - Int(lost) && history.views.count == 64)
      #expect(ticks(history) == (1...65).filter { $0 != lost })
    }
    var first = makeHistory(1...64)
    let slot = first.makeSlot(for: Tick(65), keeping: Tick(1))
    #expect(slot == 1)
  }

  @Test func `views before a base remain while later snapshots may name them`() {
    for (older, expected) in [
      (nil, [10, 11, 12]), (6, [7, 8, 9, 10, 11, 12]), (9, [10, 11, 12]),
    ] as [(UInt64?, [UInt64])] {
      var history = makeHistory(3...12)
      var base = SnapshotView()
      (base.tick, base.base) = (Tick(10), older.map { Tick($0) })
      history.prune(to: base)
      #expect(ticks(history) == expected)
    }
  }

  // MARK: Views

  /// The number of words of a record with one value.
  private static let stride = 3

  /// A view with records of id, tick and value.
  private func makeView(_ records: [[Int64]], at tick: UInt64 = 0) -> SnapshotView {
    var view = SnapshotView()
    view.tick = Tick(tick)
    view.words = records.flatMap(\.self)
    view.count = records.count
    return view
  }

  private func records(_ view: SnapshotView) -> [[Int64]] {
    (0..<view.count).map { Array(view.words[$0 * Self.stride..<($0 + 1) * Self.stride]) }
  }

  @Test func `a view holds the entities of its records, whatever their interval`() {
    let view = makeView([[2, 0, 0], [5 | 255 << 32, 0, 0], [0xFFFF_FFFF, 0, 0]])
    let held = [0, 2, 3, 5, 6, 0xFFFF_FFFE, 0xFFFF_FFFF].map { view.holds($0, Self.stride) }
    #expect(held == [false, true, false, true, false, false, true])
    #expect((0..<3).map { view.id($0, Self.stride) } == [2, 5, 0xFFFF_FFFF])
    #expect(!SnapshotView().holds(0, Self.stride))
  }

  @Test func `a named view adds the entities whose values are of its tick, unless known newer`() {
    var older = makeView([[2, 4, 20], [4, 7, 40], [6, 5, 60], [9, 3, 90]], at: 5)
    (older.base, older.isPartial) = (Tick(1), true)
    // Of the view of tick 6, the entities 1, 2, 4, 8 and 12 have values of that tick.
    let named = makeView(
      [
        [1, 6, 11], [2, 6, 21], [3, 5, 31], [4, 6, 41], [6, 4, 61], [8, 6, 81], [12, 6, 121],
      ],
      at: 6)
    var merged = makeView([[7, 7, 7]], at: 9)
    merged.merge(older, named, Self.stride)
    #expect(
      records(merged) == [
        [1, 6, 11], [2, 6, 21], [4, 7, 40], [6, 5, 60], [8, 6, 81], [9, 3, 90], [12, 6, 121],
      ])
    #expect(merged.tick == Tick(5) && merged.base == Tick(1) && merged.isPartial)
    merged.merge(older, SnapshotView(), Self.stride)
    #expect(records(merged) == records(older))
    merged.merge(SnapshotView(), named, Self.stride)
    #expect(records(merged).map { $0[0] } == [1, 2, 4, 8, 12])
    #expect(merged.tick == .zero && merged.base == nil && !merged.isPartial)
  }

  @Test func `a cleared view has room for as many records as asked for`() {
    var view = makeView([[1, 1, 1]])
    view.clear(room: 10, stride: Self.stride)
    #expect(view.count == 0 && view.words.count >= 30)
    let size = view.words.count
    view.clear(room: 2, stride: Self.stride)
    #expect(view.words.count == size)
    let other = makeView([[1, 1, 1], [2, 2, 2]])
    view.append(other, 1, Self.stride)
    view.append(other, 0, Self.stride)
    #expect(records(view) == [[2, 2, 2], [1, 1, 1]])
  }
}
