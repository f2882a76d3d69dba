import CaromCore

// What is known of one connection, without a copy of it.
extension Host {
  /// Whether there is such a link.
  package func contains(_ link: ConnectionID) -> Bool { index(of: link) != nil }

  /// The peer of a connection that is open.
  package func openPeer(of link: ConnectionID) -> PeerInfo? {
    guard let index = index(of: link), case .open(let info) = entries[index].connection.state else {
      return nil
    }
    return info
  }

  // Always inlined: a call from the lobby would copy the host.
  @inline(__always) package func isOpen(_ link: ConnectionID) -> Bool {
    index(of: link).map { entries[$0].connection.isOpen } ?? false
  }

  package func roundTrip(of link: ConnectionID) -> RoundTrip? {
    index(of: link).map { entries[$0].connection.pinger.roundTrip }
  }

  package func kind(of link: ConnectionID) -> LinkKind? {
    index(of: link).flatMap { entries[$0].connection.link }
  }

  /// Bytes of reliable messages that wait or are not acknowledged.
  package func queuedBytes(of link: ConnectionID) -> Int {
    index(of: link).map { entries[$0].connection.channels.queuedBytes } ?? 0
  }

  /// Whether messages of the link wait for the owner.
  @inline(__always) package func hasMessages(_ link: ConnectionID) -> Bool {
    if let index = index(of: link) { return entries[index].connection.channels.hasMessages }
    return remains.contains { $0.link == link }
  }

  package func statistics(of link: ConnectionID) -> PeerStatistics? {
    index(of: link).map { entries[$0].connection.peerStatistics }
  }
}
