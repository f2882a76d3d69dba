import CaromCore

/// A datagram, a stream or an eviction that one host of a group passes to another. The shell
/// delivers it from one host's loop to the other's.
package enum Handoff: Sendable {
  /// A datagram of a connection that the other host owns, with the route on which the datagram
  /// arrived. The members of a group have their sockets in the same order, so the route is valid
  /// for every member.
  case datagram([UInt8], from: Route)
  /// A stream that belongs to a connection of the other host. The id is that of the sending host's
  /// connection, which no longer exists.
  case stream(ConnectionID, HandedStream)
  /// Close the connection with the first id, which the receiving host owns. Its seat passes to the
  /// sending host's connection `for`.
  case evict(ConnectionID, for: ConnectionID)
  /// The connection that held the seat has been closed, so the connection `for` has the seat now.
  case evicted(for: ConnectionID)
}
