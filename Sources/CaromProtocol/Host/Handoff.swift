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

/// A stream that moves from one host of a group to another, with the bytes already read from it.
package struct HandedStream: Sendable {
  var path: StreamPath
  let key: ConnectionKey
  /// The peer that requested a seat on the stream, or nil if the stream joins a connection.
  let info: PeerInfo?
}

extension Connection {
  /// Creates a connection on a stream that another host of the group accepted and partly read.
  static func resuming(
    _ handed: HandedStream, as local: PeerInfo, timing: SessionTiming, at now: Instant
  ) -> Connection {
    var connection = accepting(as: local, timing: timing, at: now)
    connection.stream = handed.path
    connection.key = handed.key
    if let info = handed.info {
      connection.noteRequest(of: info, at: now)
    } else {
      connection.events.append(.joining)
    }
    return connection
  }
}
