import CaromCore
import CaromProtocol
import CaromTransport

/// A session that is hosted on several event loops, and so on several cores, behind one port.
///
/// The system spreads callers over the loops (Linux; elsewhere all may come to one). Each peer
/// lives on one loop as it would in a `Session` alone, both of its links with it: what comes to
/// another loop, a stream, or datagrams from a new address, goes on to the peer's. For the owner it
/// is one session: one roster, one sequence of events, one queue a channel.
///
/// ```swift
/// try await SessionGroup.host(as: me, port: 7777, seats: 2000, loops: 4) { group, port in
///   for await line in group.messages(on: .chat) {
///     await group.broadcast(line.message, on: .chat)
///   }
/// }
/// ```
///
/// It lives as long as the closure that `host` runs; when that returns or throws, every peer is
/// told goodbye and the sockets are closed.
public struct SessionGroup: Sendable {
  /// The most loops of a group.
  static let loopLimit = 256

  let hubs: [SessionHub]
  let inbox: Inbox<PeerEvent>
  let shelf: InboxRegistry

  /// The loops that it runs on.
  public var loops: [NetworkLoop] { hubs.map(\.loop) }
}

// MARK: - Who is here
extension SessionGroup {
  /// What happens to the peers of all loops, from the beginning on, and for each peer in order; for
  /// one reader at a time.
  public var events: PeerEvents { PeerEvents(inbox: inbox) }

  /// The next event, if there is one: for a loop that asks once a frame, from any thread.
  public func poll() -> PeerEvent? { inbox.take() }

  /// Calls `observer` with each event from now on, beside whoever reads `events`: on the loop of
  /// the event's peer, so that it may be called twice at the same time. It must not wait.
  public func observe(_ observer: @escaping @Sendable (PeerEvent) -> Void) async {
    for hub in hubs { await hub.observe(observer) }
  }

  /// Everybody who is connected: loop by loop, and there in the order of joining.
  public var peers: [Peer] {
    get async {
      var peers: [Peer] = []
      for hub in hubs { peers += await hub.allPeers }
      return peers
    }
  }

  /// How many seats nobody holds or has asked for, on all loops.
  public var freeSeats: Int {
    get async { await hubs[0].node.freeSeats }
  }

  /// As `Session.watchInput`, for the peers of all loops.
  public func watchInput<Message>(on channel: MessageChannel<Message>, limit: Duration?) async {
    for hub in hubs { await hub.node.watchInput(channel: channel.id, limit: limit) }
  }

  /// What each loop does, in the order of `loops`.
  public var statistics: [LoopStatistics] {
    get async {
      var statistics: [LoopStatistics] = []
      for hub in hubs { statistics.append(await hub.node.loopStatistics) }
      return statistics
    }
  }
}

// MARK: - Messages
extension SessionGroup {
  /// The messages of one channel, from everybody on all loops; each channel for one reader at a
  /// time. What came before the first reader is kept: all of a reliable channel, of others some.
  public func messages<Message>(on channel: MessageChannel<Message>) -> Messages<Message> {
    Messages(inbox: shelf.inbox(for: channel))
  }

  /// The messages of one channel that have come since the last time, for a loop that asks once a
  /// frame. From any thread, and never waits.
  public func received<Message>(on channel: MessageChannel<Message>) -> [Received<Message>] {
    let inbox = shelf.inbox(for: channel)
    var messages: [Received<Message>] = []
    while let message = inbox.take() { messages.append(message) }
    return messages
  }

  /// Sends a message to everybody, or to `peers`, on all loops at the same time and without waiting
  /// for room; says to whom it could not be sent, and why.
  @discardableResult
  public func broadcast<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to peers: [Peer]? = nil,
    lifetime: Duration? = nil
  ) async -> [Peer: SendError] {
    await withTaskGroup { tasks in
      for hub in hubs {
        let own = peers?.filter { $0.hub === hub }
        if own?.isEmpty == true { continue }
        tasks.addTask { await hub.broadcast(message, on: channel, to: own, lifetime: lifetime) }
      }
      return await tasks.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }
  }

  /// Hands a message for everybody over from any thread, without waiting and without a word of
  /// what becomes of it. `false` where a loop did not even take it.
  @discardableResult
  public func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) -> Bool {
    hubs.reduce(true) { isTaken, hub in
      hub.node.post(message, on: channel, to: .all, lifetime: lifetime) && isTaken
    }
  }
}

// MARK: - Questions
extension SessionGroup {
  /// Answers the questions of an exchange, from everybody on all loops, one after the other, until
  /// the session ends or the task is cancelled. Whoever asked is told where `answer` throws.
  public func respond<Question, Answer>(
    to exchange: Exchange<Question, Answer>,
    _ answer: (Peer, Question) async throws -> Answer
  ) async {
    await shelf.respond(to: exchange, answer)
  }

  /// Sends a message that counts only when everybody has applied it: returns when the `respond`
  /// closures of all of them have, and says by the deadline who has not, and why.
  public func send<Message>(
    _ message: Message, on exchange: Exchange<Message, Applied>,
    acknowledgedBy audience: Session.Audience = .all, within limit: Duration
  ) async -> [Peer: RequestError] {
    let peers = if case .peers(let peers) = audience { peers } else { await self.peers }
    return await Session.send(message, on: exchange, acknowledgedBy: peers, within: limit)
  }
}
