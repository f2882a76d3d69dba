import CaromProtocol
import CaromTransport

/// The events of a session's peers, or of those in one of several matches, for one match. The
/// watch first reports the peers that are already connected. The reader of `Session.events` still
/// receives every event.
final class PeerWatch: Sendable {
  /// The maximum number of unread events. Beyond this number, the oldest events are dropped and the
  /// next event is `missed`, after which the match calls `begin()` again.
  static let limit = 4096

  private let inbox = Inbox<PeerEvent>(
    limit: limit, overflow: .dropOldestAndReport { .missed(events: $0) })
  private let ended = Locked(false)
  private let inboxes: InboxRegistry
  /// The number of the closure that runs when the session ends.
  private let finisher: Int?
  private let hubs: [SessionHub]
  /// The peers that are reported as having left if they are not connected when the watch begins.
  private let expected: [Peer]

  /// Whether the match has a peer. Called on the loop.
  private let hasPeer: @Sendable (Peer) -> Bool
  /// Called on the loop after each event, to wake a reader that is not waiting for events.
  private let wake: @Sendable (PeerEvent) -> Void

  init(
    _ session: Session, expecting expected: [Peer] = [],
    wake: @escaping @Sendable (PeerEvent) -> Void = { _ in },
    where hasPeer: @escaping @Sendable (Peer) -> Bool = { _ in true }
  ) {
    self.expected = expected
    self.hasPeer = hasPeer
    self.wake = wake
    inboxes = session.inboxes
    hubs = session.hubs
    finisher = inboxes.whenEnded { [inbox, ended] in
      ended.withLock { $0 = true }
      inbox.finish()
    }
    begin()
  }

  deinit {
    detach()
    if let finisher { inboxes.forget(finisher) }
  }

  /// Whether the session has ended.
  var hasEnded: Bool { ended.withLock { $0 } }

  /// The connections of the peers that are connected now.
  var connected: Set<ConnectionID> { inboxes.connected }

  /// Returns the next event, or nil if there is none now.
  func next() -> PeerEvent? { inbox.pop() }

  /// Reports all connected peers of the match as joined, and what happens to them from then on.
  /// Refusals, which concern no peer, are left out.
  func begin() {
    detach()
    let key = ObjectIdentifier(self)
    let (inbox, expected, hasPeer, wake) = (inbox, expected, hasPeer, wake)
    for hub in hubs {
      hub.loop.post {
        hub.assumeIsolated { hub in
          hub.addObserver(key, expecting: expected) {
            if case .refused = $0 { return }
            if let peer = $0.peer, !hasPeer(peer) { return }
            _ = inbox.push($0)
            wake($0)
          }
        }
      }
    }
  }

  private func detach() {
    let key = ObjectIdentifier(self)
    for hub in hubs { hub.loop.post { hub.assumeIsolated { $0.removeObserver(key) } } }
  }
}

/// The round-trip time to a peer, which can be read on any thread.
final class RoundTripMeter: Sendable {
  private let latest: Locked<Duration?>
  private let peer: Peer

  init(_ peer: Peer, first: Duration?) {
    self.peer = peer
    latest = Locked(first)
  }

  /// The smoothed round-trip time at the last refresh, or nil if it is unknown.
  var roundTrip: Duration? { latest.withLock { $0 } }

  /// Reads the round-trip time on the loop.
  func refresh() {
    let (node, connection, latest) = (peer.node, peer.connectionID, latest)
    node.loop.post {
      let measured = node.assumeIsolated { $0.statistics(of: connection)?.roundTrip }
      if let measured { latest.withLock { $0 = measured } }
    }
  }
}
