import CaromCore

/// What one host of a group has for another.
package enum HostMail: Sendable {
  /// A datagram of a connection that is the other's, and where it came from: hosts of a group have
  /// their sockets in the same order.
  case datagram([UInt8], from: Route)
  /// The stream of this link, with what was read of it, belongs to a connection of the other's.
  case stream(ConnectionID, HandedStream)
  /// That link's seat is taken over by the other link, on this host, as soon as it is gone.
  case evict(ConnectionID, for: ConnectionID)
  /// The link has its seat: whoever had it is gone.
  case evicted(for: ConnectionID)
}

/// A stream on its way from one host to another.
package struct HandedStream: Sendable {
  var path: StreamPath
  let key: ConnectionKey
  /// Who asked for a seat on it; `nil` where it only joins.
  let info: PeerInfo?
}
