import CaromCore
import CaromProtocol
import CaromTransport

/// Several matches that a host serves at the same time over one session and the same channels, such
/// as the tables of a room. Each peer is in one of them, or in none.
///
/// A `HostedRollback` takes one of these matches in place of the whole session:
///
/// ```swift
/// let matches = ConcurrentMatches(4, over: session) { peer in Int(peer.info.match) - 1 }
/// let hosted = (0..<4).map { number in
///   HostedRollback(
///     RollbackServer(Race(), players: 2, at: loop.now), of: matches, number: number)
/// }
/// ```
///
/// Each match then has the events and the messages of its own peers, and each may be played by
/// another task or thread. Create one for a session, before the session's messages are read.
public final class ConcurrentMatches: Sendable {
  /// The session over which the matches are played.
  public let session: Session
  /// The number of the matches.
  public let count: Int
  private let chooseMatch: @Sendable (Peer) -> Int?
  /// The match of each peer, by the peer's connection, once it has been chosen.
  private let chosen = Locked<[ConnectionID: Int?]>([:])

  /// Creates `count` matches, numbered from 0. `chooseMatch` is called once for each peer, on the
  /// loop of the peer's connection, and returns the number of the peer's match. It returns nil if
  /// the peer is to be in no match; such a peer is disconnected if it sends a message of a match.
  ///
  /// A host that wants to refuse a peer, because its match does not exist or is full, does so in
  /// `admit`, before the peer joins (see `Session.host`).
  public init(
    _ count: Int, over session: Session,
    chooseMatch: @escaping @Sendable (Peer) -> Int?
  ) {
    precondition(count > 0, "a session has at least one match")
    self.count = count
    self.session = session
    self.chooseMatch = chooseMatch
  }

  /// Removes and returns the messages on one channel that the peers of a match have sent since the
  /// previous call. Can be called from any thread, and never blocks. From the first call on, all
  /// messages on the channel belong to the matches, so do not read it from the session as well.
  public func takeMessages<Message>(
    on channel: MessageChannel<Message>, of match: Int
  ) -> [Received<Message>] {
    inbox(for: channel, of: match).popAll()
  }

  /// Returns the inbox of a match's messages on a channel.
  func inbox<Message>(
    for channel: MessageChannel<Message>, of match: Int
  ) -> Inbox<Received<Message>> {
    session.inboxes.inboxes(for: channel, of: self).inbox(of: match)
  }

  /// Returns the number of a peer's match, or nil if the peer is in none. Call this on the loop of
  /// the peer, such as in an observer of the session's events.
  public func match(of peer: Peer) -> Int? {
    let known = chosen.withLock { $0[peer.connectionID] }
    if let known { return known }
    let match = chooseMatch(peer)
    precondition(match.map { 0..<count ~= $0 } ?? true, "chooseMatch must return a match")
    let connected = session.inboxes.connected
    chosen.withLock { chosen in
      // The peers that have left are forgotten now and then, not at once: other observers of the
      // event may still ask for their match.
      if chosen.count > 2 * connected.count + 16 {
        chosen = chosen.filter { connected.contains($0.key) }
      }
      chosen.updateValue(match, forKey: peer.connectionID)
    }
    return match
  }
}

/// The inboxes of one channel's messages, one for each of several matches.
final class MatchInboxes<Message: Sendable>: Sendable {
  let matches: ConcurrentMatches
  private let all = Locked<[Inbox<Received<Message>>]>([])

  /// Creates the inboxes. `onRoom` is called when a sender that had to pause may go on.
  init(
    of matches: ConcurrentMatches,
    _ makeInbox: (_ onRoom: @escaping @Sendable () -> Void) -> Inbox<Received<Message>>,
    onRoom: @escaping @Sendable () -> Void
  ) {
    self.matches = matches
    let inboxes = (0..<matches.count).map { _ in
      makeInbox { [weak self] in
        // A channel is paused for all matches together.
        if self?.all.withLock({ $0.contains(where: \.isPaused) }) == false { onRoom() }
      }
    }
    all.withLock { $0 = inboxes }
  }

  func inbox(of match: Int) -> Inbox<Received<Message>> { all.withLock { $0[match] } }

  /// Ends all inboxes. Elements that they contain can still be read.
  func finish() { for inbox in all.withLock({ $0 }) { inbox.finish() } }

  /// Returns a reader that sorts the messages of one loop into the inboxes.
  func makeReader(of channel: MessageChannel<Message>) -> SessionHub.Reader {
    let batches = all.withLock { $0.map { InboxBatch(for: $0) } }
    return SessionHub.Reader { [matches] peer, bytes in
      guard let match = matches.match(of: peer),
        let message = try? channel.coding.decode(bytes)
      else { return .malformed }
      let received = Received(peer: peer, message: message, arrival: peer.hub.loop.now)
      return batches[match].append(received, bytes: bytes.count) ? .accepted : .acceptedAndFull
    } flush: {
      var hasRoom = true
      for batch in batches { hasRoom = batch.flush() && hasRoom }
      return hasRoom
    } finish: { [weak self] in
      self?.finish()
    }
  }
}
