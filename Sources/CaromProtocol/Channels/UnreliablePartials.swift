/// The few unreliable messages that have come in part: a new one takes the place of the oldest.
struct UnreliablePartials: Sendable {
  struct Partial: Sendable, BitwiseCopyable {
    var lane: UInt16
    /// The number, as far as the mode tells it.
    var number: UInt64
    var index: Int32
  }

  private var partials: [Partial] = []

  var count: Int { partials.count }

  func find(_ number: UInt64, lane: Int) -> Partial? {
    partials.first { $0.number == number && $0.lane == lane }
  }

  /// Adds a message; returns one that is forgotten for it.
  mutating func append(_ number: UInt64, lane: Int, index: Int32) -> Partial? {
    let forgotten =
      partials.count == ChannelLimits.unreliableReassemblies ? partials.removeFirst() : nil
    partials.append(Partial(lane: UInt16(lane), number: number, index: index))
    return forgotten
  }

  mutating func remove(_ index: Int32) { partials.removeAll { $0.index == index } }

  /// Takes out a message of the lane that is older than `number`.
  mutating func popStale(before number: UInt64, lane: Int) -> Partial? {
    guard let index = partials.firstIndex(where: { $0.lane == lane && $0.number < number })
    else { return nil }
    return partials.remove(at: index)
  }
}
