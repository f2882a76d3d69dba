import CaromCore

/// A host in the directory.
struct HostEntry: Sendable {
  let record: HostRecord
  /// The process and the connection that registered last.
  var sender: CommandSender
  let keys: HostKeys
  /// When the lease ends, by the directory's clock.
  var leaseEnd: Instant
  var isDraining: Bool
  /// How long the host may look for other hosts for its matches, if an operator has said so.
  var patience: Duration?
  var load = HostLoad()
  /// The number of seats that are taken or reserved.
  var seatsInUse = 0
  /// The matches that the host has.
  var matches: Set<MatchID> = []
  /// Those that no player has joined yet under the host's claim, in the order of their claims.
  var unconfirmed: [MatchID] = []

  init(
    _ record: HostRecord, sender: CommandSender, keys: HostKeys, leaseEnd: Instant,
    isDraining: Bool
  ) {
    self.record = record
    self.keys = keys
    self.sender = sender
    self.leaseEnd = leaseEnd
    self.isDraining = isDraining
  }

  var freeSeats: Int { max(0, record.seats - seatsInUse) }

  /// The position of the host among those of its kind: the host with the lowest rank gets the next
  /// match. It is the fraction of its seats in use, in units of 1/65,536, and more for a host that
  /// is overloaded than for any other. Nil if the host takes no matches.
  var rank: Int? {
    if isDraining { return nil }
    return seatsInUse * 65_536 / record.seats + (load.isOverloaded ? 1 << 32 : 0)
  }
}

/// The hosts among which a match can choose: those of one version in one region, or in all.
struct HostPool: Hashable, Sendable {
  let game: GameVersion
  /// The region; empty for all regions.
  let region: String
}

/// Hosts in the order of their ranks, and of their ids where ranks are equal.
struct RankedHosts: Sendable {
  private var entries: [(rank: Int, host: PeerID)] = []

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  mutating func insert(_ host: PeerID, rank: Int) {
    entries.insert((rank, host), at: position(of: host, rank))
  }

  mutating func remove(_ host: PeerID, rank: Int) {
    let index = position(of: host, rank)
    precondition(
      index < entries.count && entries[index] == (rank, host), "the host has another rank")
    entries.remove(at: index)
  }

  /// Returns the first host for which the predicate is true.
  func first(where predicate: (PeerID) -> Bool) -> PeerID? {
    entries.first { predicate($0.host) }?.host
  }

  /// The index of the first entry that is not before the given one.
  private func position(of host: PeerID, _ rank: Int) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle] < (rank, host) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
