/// The unreliable messages under reassembly. When the table is full, a new message replaces the
/// oldest.
struct UnreliablePartials: Sendable {
  struct Partial: Sendable, BitwiseCopyable {
    /// The index of the message's receive lane.
    var lane: UInt16
    /// The message's full number in a sequenced lane, and its low 16 bits in an unordered lane.
    var number: UInt64
    /// The index of the reassembly.
    var index: Int32
  }

  private var partials: [Partial] = []

  func find(_ number: UInt64, lane: Int) -> Partial? {
    partials.first { $0.number == number && $0.lane == lane }
  }

  /// Adds a message. If the table is full, removes and returns the oldest message; otherwise
  /// returns nil.
  mutating func append(_ number: UInt64, lane: Int, index: Int32) -> Partial? {
    let evicted =
      partials.count == ChannelLimits.unreliableReassemblies ? partials.removeFirst() : nil
    partials.append(Partial(lane: UInt16(lane), number: number, index: index))
    return evicted
  }

  mutating func remove(_ index: Int32) { partials.removeAll { $0.index == index } }

  /// Removes and returns one of the lane's messages with a number below `number`, or returns `nil`
  /// if there is none.
  mutating func popStale(before number: UInt64, lane: Int) -> Partial? {
    guard let index = partials.firstIndex(where: { $0.lane == lane && $0.number < number })
    else { return nil }
    return partials.remove(at: index)
  }
}
