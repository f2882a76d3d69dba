import CaromCore

/// Work that one host of a group passes to another. The shell delivers it between their loops.
package enum Handoff: Sendable {
  /// A datagram of a connection that the other host owns, with the route it arrived on. Members of
  /// a group have their sockets in the same order, so the route is valid for all of them.
  case datagram([UInt8], from: Route)
  /// The stream of the connection with this id belongs to a connection of the other host.
  case stream(ConnectionID, HandedStream)
  /// Close the first connection, whose seat the connection `for` on the sending host takes over.
  case evict(ConnectionID, for: ConnectionID)
  /// The seat's previous connection is closed: the connection `for` has the seat.
  case evicted(for: ConnectionID)
}
