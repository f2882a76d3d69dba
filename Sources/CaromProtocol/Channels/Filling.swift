import CaromCore

/// What the filling of one packet goes by.
struct Filling: Sendable {
  /// How often the packet's small reliable messages ride along again, and what is left over for
  /// those of the next.
  let rides: Int
  let leftover: Double
  /// Whether messages that are bulk may leave.
  let includeBulk: Bool
  let now: Instant
  /// Whether a message stands in the packet already.
  var hasMessage = false

  init(rides: Double, includeBulk: Bool, now: Instant) {
    self.rides = Int(rides)
    leftover = rides - rides.rounded(.down)
    self.includeBulk = includeBulk
    self.now = now
  }

  /// What came of a lane's turn.
  enum Turn: Sendable {
    /// A frame of so many bytes was written.
    case wrote(Int)
    /// The next message does not fit into what is left of the packet.
    case noRoom
    case nothing
  }
}
