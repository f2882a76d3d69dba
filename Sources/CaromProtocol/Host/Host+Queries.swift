import CaromCore

// Properties of one connection, read in place without copying the connection.
extension Host {
  /// Returns whether this host has a connection with the id.
  package func contains(_ id: ConnectionID) -> Bool { index(of: id) != nil }

  /// Returns the peer of a connection, or nil if the connection is not open.
  package func openPeer(of id: ConnectionID) -> PeerInfo? {
    guard let index = index(of: id), case .open(let info) = entries[index].connection.state else {
      return nil
    }
    return info
  }

  /// Returns whether the connection is open: the seat is granted and neither side has closed the
  /// connection.
  // Always inlined: a call from the lobby would copy the host.
  @inline(__always) package func isOpen(_ id: ConnectionID) -> Bool {
    index(of: id).map { entries[$0].connection.isOpen } ?? false
  }

  package func roundTrip(of id: ConnectionID) -> RoundTrip? {
    index(of: id).map { entries[$0].connection.pinger.roundTrip }
  }

  /// Returns the kind of link that currently carries the connection's messages, or nil if there is
  /// no such link.
  package func kind(of id: ConnectionID) -> LinkKind? {
    index(of: id).flatMap { entries[$0].connection.link }
  }

  /// Returns the number of bytes of reliable messages that are queued or unacknowledged, including
  /// `messageCharge` bytes for each message.
  package func queuedBytes(of id: ConnectionID) -> Int {
    index(of: id).map { entries[$0].connection.channels.queuedBytes } ?? 0
  }

  /// Returns the number of frames that the peer has acknowledged, counting only frames of messages
  /// that need credit. The number stays the same while the peer reads nothing, and it wraps around.
  package func acknowledgedFrames(of id: ConnectionID) -> UInt32 {
    index(of: id).map { entries[$0].connection.channels.acknowledgedFrames } ?? 0
  }

  /// Returns whether a connection has received messages that `pollMessage` has not returned yet.
  @inline(__always) package func hasMessages(_ id: ConnectionID) -> Bool {
    if let index = index(of: id) { return entries[index].connection.channels.hasMessages }
    return undelivered.contains { $0.connection == id }
  }

  /// Returns how a connection is protected, or nil if there is no connection with this id.
  package func protection(of id: ConnectionID) -> LinkProtection? {
    index(of: id).map { entries[$0].connection.protection }
  }

  package func statistics(of id: ConnectionID) -> PeerStatistics? {
    index(of: id).map { entries[$0].connection.peerStatistics }
  }

  /// Returns when something came from the peer last; nil if there is no such connection.
  package func lastReceived(from id: ConnectionID) -> Instant? {
    index(of: id).map { entries[$0].connection.lastReceived }
  }

  /// Returns the number of bytes of memory that the connection's messages occupy, in both
  /// directions.
  package func heldBytes(of id: ConnectionID) -> Int {
    index(of: id).map { entries[$0].connection.channels.heldBytes } ?? 0
  }
}
