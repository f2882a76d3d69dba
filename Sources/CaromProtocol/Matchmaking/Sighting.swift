import CaromCore

/// The information that a peer advertises to others that look for a match.
public struct Sighting: Hashable, Sendable {
  /// A peer's activity, which determines whether and how others connect to it.
  public enum Status: String, Hashable, Sendable, CaseIterable {
    /// The peer is looking for a match. It may join another host or host the match itself.
    case searching
    /// The peer has found no match yet; it hosts and keeps looking.
    case waiting
    /// The peer hosts and never joins another host.
    case hosting
    /// The peer is in a match.
    case playing
  }

  /// The peer's id.
  public var id: PeerID
  /// The peer's current activity.
  public var status: Status
  /// The number of free player seats at the peer.
  public var freeSeats: Int

  /// Creates a sighting of a peer.
  public init(id: PeerID, status: Status, freeSeats: Int) {
    self.id = id
    self.status = status
    self.freeSeats = freeSeats
  }
}
