import CaromCore

/// What a peer says of its table to everybody who looks for one.
public struct Sighting: Hashable, Sendable {
  /// Why a peer has, or has no, free seat.
  public enum Status: String, Hashable, Sendable, CaseIterable {
    /// It looks for a table, and would host as well.
    case searching
    /// It found nobody so far; it hosts, and keeps looking.
    case waiting
    /// It hosts on purpose and never leaves its table.
    case hosting
    /// It plays.
    case playing
  }

  /// Who it is.
  public var id: PeerID
  /// What it does.
  public var status: Status
  /// How many seats are free at its table.
  public var freeSeats: Int

  /// A peer as it was seen.
  public init(id: PeerID, status: Status, freeSeats: Int) {
    self.id = id
    self.status = status
    self.freeSeats = freeSeats
  }
}
