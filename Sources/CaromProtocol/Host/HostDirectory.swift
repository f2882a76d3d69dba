import CaromCore

/// What the hosts of a group know together: whose connection a key names, which keys are spent, and
/// who holds the seats. A value; whoever shares it among threads locks it.
package struct HostDirectory: Sendable {
  /// The most keys of connections that have ended that are remembered; with more the oldest goes.
  package static let endedKeyLimit = 1024
  /// The most callers whose datagrams are remembered before they have proved their address.
  package static let callerLimit = 1024

  /// Where a key belongs.
  package enum Place: Hashable, Sendable {
    case nobody
    /// The connection of that link, which says whose it is.
    case owned(ConnectionID)
    /// Its datagrams come to that host, and its connection is to be there.
    case calling(Int)
    /// Its connection was open, and has ended.
    case ended
  }

  /// Keys, the first come at the front; looked up, never gone through.
  private struct KeyRing: Sendable {
    let limit: Int
    var values: [ConnectionKey: Int] = [:]
    var order = Deque<ConnectionKey>()

    mutating func insert(_ key: ConnectionKey, _ value: Int) {
      guard values.updateValue(value, forKey: key) == nil else { return }
      order.append(key)
      if order.count > limit, let oldest = order.popFirst() { values[oldest] = nil }
    }
  }

  package var seating: Seating
  var tokens = TokenBook()
  /// One a connection of the group at most.
  private var owners: [ConnectionKey: ConnectionID] = [:]
  private var ended = KeyRing(limit: endedKeyLimit)
  private var callers = KeyRing(limit: callerLimit)

  package init(seats: Int, spectatorSeats: Int = 0) {
    seating = Seating(seats: seats, spectatorSeats: spectatorSeats)
  }

  /// A caller that is not known yet says its first hello to a host: its stream is to come there
  /// too. A stream can be handed from one host to another for good, an address cannot.
  package mutating func noteCaller(_ key: ConnectionKey, at member: Int) {
    guard owners[key] == nil else { return }
    callers.insert(key, member)
  }

  /// Where a key belongs.
  package func find(_ key: ConnectionKey) -> Place {
    if let owner = owners[key] { return .owned(owner) }
    if ended.values[key] != nil { return .ended }
    if let member = callers.values[key] { return .calling(member) }
    return .nobody
  }

  /// The key is that of a link's connection from now on.
  package mutating func claim(_ key: ConnectionKey, for link: ConnectionID) { owners[key] = link }

  /// A link is gone that may have had a key.
  package mutating func release(_ key: ConnectionKey, of link: ConnectionID, wasOpen: Bool) {
    guard owners[key] == link else { return }
    owners[key] = nil
    if wasOpen { ended.insert(key, link.member) }
  }

  /// How many keys have an owner.
  package var ownerCount: Int { owners.count }
}
