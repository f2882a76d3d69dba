import CaromCore

/// A host as the directory sees it.
public struct HostStatus: Hashable, Sendable {
  /// What the host has told about itself.
  public let record: HostRecord
  /// The number of seats that players have or that are reserved for them.
  public let seatsInUse: Int
  /// The number of matches at the host.
  public let matches: Int
  /// The load that the host reported last.
  public let load: HostLoad
  /// Whether the host takes no more matches, because it is going to leave the fleet.
  public let isDraining: Bool

  package init(
    _ record: HostRecord, seatsInUse: Int, matches: Int, load: HostLoad, isDraining: Bool
  ) {
    self.record = record
    self.seatsInUse = seatsInUse
    self.matches = matches
    self.load = load
    self.isDraining = isDraining
  }
}

/// What has become of a match.
public enum MatchStatus: Hashable, Sendable {
  /// A host runs the match, or it is about to begin there.
  case hosted(Placement)
  /// The match has lost its host, and no other one has taken it over yet.
  case orphaned
  /// The match is over, with this result.
  case over(result: [UInt8])
}

/// A fleet at one moment.
public struct FleetStatus: Hashable, Sendable {
  /// The hosts that are alive, in the order of their ids.
  public let hosts: [HostStatus]
  /// The number of matches that have a host.
  public let matches: Int
  /// The number of matches whose host is gone and that no other host has taken over yet.
  public let orphans: Int
  /// The number of matches that are over and can still be found.
  public let finished: Int

  package init(hosts: [HostStatus], matches: Int, orphans: Int, finished: Int) {
    self.hosts = hosts
    self.matches = matches
    self.orphans = orphans
    self.finished = finished
  }
}
