import CaromCore

/// What the filling of one packet goes by.
struct Filling: Sendable {
  /// How often a small reliable message rides along again.
  let redundancy: Int
  /// Whether messages that are bulk may leave.
  let includeBulk: Bool
  let now: Instant
  /// Whether a message stands in the packet already.
  var hasMessage = false

  /// What came of a lane's turn.
  enum Turn: Sendable {
    /// A frame of so many bytes was written.
    case wrote(Int)
    /// The next message does not fit into what is left of the packet.
    case noRoom
    case nothing
  }
}
