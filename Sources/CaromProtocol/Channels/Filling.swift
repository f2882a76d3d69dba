import CaromCore

/// The parameters for filling one packet.
struct Filling: Sendable {
  /// The number of later packets in which each small reliable message of this packet is repeated.
  let copies: Int
  /// The fractional part of the redundancy, which is carried over to the next packet.
  let leftover: Double
  /// Whether bulk messages may be sent in this packet.
  let includeBulk: Bool
  let now: Instant
  /// Whether the packet already contains a message.
  var hasMessage = false

  /// Creates the parameters for one packet. `redundancy` is the average number of copies for each
  /// small reliable message.
  init(redundancy: Double, includeBulk: Bool, now: Instant) {
    copies = Int(redundancy)
    leftover = redundancy - Double(copies)
    self.includeBulk = includeBulk
    self.now = now
  }

  /// The result of a lane's turn.
  enum Turn: Sendable {
    /// The lane wrote at least one frame, and its turn has ended.
    case wrote
    /// The lane's next message does not fit into the rest of the packet.
    case noRoom
    /// The lane has nothing that it may send now.
    case nothing
  }
}
