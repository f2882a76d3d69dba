import CaromCore

/// How often a host has turned away strangers since it was created.
package struct StrangerStatistics: Hashable, Sendable {
  /// The number of strangers that were dropped for newer ones.
  package var dropped: UInt64 = 0
  /// The number of times that a new stranger was refused, because there were too many of its source
  /// or too many connections. Over datagrams, each repeated hello counts.
  package var refused: UInt64 = 0
  /// The number of times that a handshake was not begun because the budget for handshakes was used
  /// up. Over datagrams, each repeated hello counts.
  package var postponed: UInt64 = 0
  /// The number of times that `Strangers.streamLimit` was exceeded: a stranger was dropped for a
  /// newer one.
  package var beyondStreamLimit: UInt64 = 0
  /// The number of times that `Strangers.handshakeLimit` was exceeded: a stranger was dropped for a
  /// newer one.
  package var beyondHandshakeLimit: UInt64 = 0
  /// The number of times that `Strangers.sourceLimit` was exceeded: a stranger was dropped for a
  /// newer one of its source, or the newer one was refused.
  package var beyondSourceLimit: UInt64 = 0
  /// The number of times that a stranger was refused because there were `Host.connectionLimit`
  /// connections.
  package var beyondConnectionLimit: UInt64 = 0
  /// The number of streams and datagram paths that began with a connect token. For the latter, none
  /// of the limits for strangers held.
  package var withToken: UInt64 = 0
}

// What strangers may take of a host: connections, and public-key operations. Those who present a
// connect token have proven more than others, so nothing of this holds for them over datagrams.
extension Host {
  /// The number of strangers: accepted connections that have neither requested a seat nor joined
  /// another connection yet.
  package var strangerCount: Int { strangers.count(.stream) + strangers.count(.datagrams) }

  /// Makes room for a stranger at `address`. Returns false if there is none.
  mutating func addStranger(
    _ id: ConnectionID, from address: IPAddress, _ link: Strangers.Link, at now: Instant
  ) -> Bool {
    switch strangers.add(id, from: address, link, at: now) {
    case .accept: break
    case .replace(let old, let limit):
      count(limit, link)
      dropStranger(old, at: now)
    case .refuse(let limit):
      count(limit, link)
      strangerStatistics.refused += 1
      return false
    }
    return true
  }

  /// Counts that a limit was exceeded by a stranger on a kind of link.
  private mutating func count(_ limit: Strangers.Limit, _ link: Strangers.Link) {
    switch (limit, link) {
    case (.source, _): strangerStatistics.beyondSourceLimit += 1
    case (.kind, .stream): strangerStatistics.beyondStreamLimit += 1
    case (.kind, .datagrams): strangerStatistics.beyondHandshakeLimit += 1
    }
  }

  /// Counts a stranger that is refused because there are too many connections.
  mutating func refuseBeyondConnectionLimit() {
    strangerStatistics.refused += 1
    strangerStatistics.beyondConnectionLimit += 1
  }

  private mutating func dropStranger(_ id: ConnectionID, at now: Instant) {
    guard let index = index(of: id) else { return }
    strangerStatistics.dropped += 1
    entries[index].connection.closeNow()
    refresh(index, at: now)
  }

  /// Records that the connection at `index` is not a stranger's any more, if it was one.
  mutating func acceptStranger(_ index: Int) {
    guard entries[index].isStranger else { return }
    entries[index].isStranger = false
    strangers.remove(entries[index].id)
  }

  /// Whether peers have to do a handshake with public keys before they have proven anything.
  private var hasStrangersHandshakes: Bool {
    side.security.map { !$0.acceptsTickets } ?? false
  }

  /// Returns whether the handshake that `part` begins over datagrams may begin for a stranger, and
  /// reduces the budget if so.
  mutating func takeHandshake(_ part: HandshakePart?, at now: Instant) -> Bool {
    let isKnown = part.map { side.security?.isForKnownHost($0.message.span) == true } ?? false
    return takeHandshake(.datagrams, isForKnownHost: isKnown, at: now)
  }

  /// Returns whether a handshake may begin for a stranger, and reduces the budget if so.
  mutating func takeHandshake(
    _ link: Strangers.Link, isForKnownHost: Bool = false, at now: Instant
  ) -> Bool {
    guard hasStrangersHandshakes || link == .stream && expectsTLS,
      !handshakeBudget.take(link, isForKnownHost: isForKnownHost, at: now)
    else { return true }
    strangerStatistics.postponed += 1
    return false
  }

  /// Reduces the budget by a TLS handshake, which is about to begin on an accepted stream.
  package mutating func takeTLSHandshake(at now: Instant) {
    _ = takeHandshake(Strangers.Link.stream, at: now)
  }

  /// Returns the time from which `accept` has the budget for another stream, or nil if it has it
  /// already. Until then, leave streams in the backlog: `accept` would refuse them.
  package mutating func findStreamPause(at now: Instant) -> Instant? {
    guard hasStrangersHandshakes || expectsTLS else { return nil }
    let next = handshakeBudget.nextStreamTime(at: now)
    return next > now ? next : nil
  }
}
