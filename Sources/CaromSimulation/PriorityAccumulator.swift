/// Chooses what goes out first where not everything can: what waits gains each tick, so that nobody
/// waits for ever.
struct PriorityAccumulator: Sendable {
  /// Who waits: its place and what it gained.
  private var waiting: [(place: Int32, gained: Int32)] = []

  mutating func removeAll() { waiting.removeAll(keepingCapacity: true) }

  /// Somebody who wants to go.
  mutating func append(_ place: Int, gained: Int) {
    waiting.append((Int32(place), Int32(clamping: gained)))
  }

  /// How many want to go.
  var count: Int { waiting.count }

  /// The places in the order in which they go; those that gained alike go in the order of places.
  mutating func sort() {
    waiting.sort { ($1.gained, $0.place) < ($0.gained, $1.place) }
  }

  /// The place of the one that goes after `index` others.
  subscript(index: Int) -> Int { Int(waiting[index].place) }
}
