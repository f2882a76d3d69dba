import CaromCore
import CaromProtocol
import CaromTransport

/// A hosted or joined session: its peers, their messages, and ways to send to them.
///
/// A session lasts as long as the closure that `host` or `join` runs. When the closure returns or
/// throws, the session sends a goodbye to every peer and closes its sockets. Tasks wait for events
/// and messages with `for await`. A game loop polls for them once per frame, from any thread, with
/// `poll` and `takeMessages`.
///
/// A host can run on several event loops, and thus on several cores, behind one port. The system
/// distributes incoming connections over the loops (on Linux; elsewhere one loop may get all of
/// them). The connection of each peer stays on one loop. A stream or a datagram of that peer that
/// arrives on another loop is handed over to the peer's loop. The application sees one session: one
/// list of peers, one sequence of events and one queue for each channel.
///
/// ```swift
/// try await Session.host(as: me, port: 7777, seats: 2000, loops: 4) { session, port in
///   for await line in session.messages(on: .chat) {
///     try await session.broadcast(line.message, on: .chat)
///   }
/// }
/// ```
public struct Session: Sendable {
  /// The maximum number of event loops that one session can run on.
  static let loopLimit = 256

  let hubs: [SessionHub]
  let inboxes: InboxRegistry
  let eventInbox: Inbox<PeerEvent>
  /// How this side has joined; nil if it hosts.
  let settings: JoinSettings?

  /// The event loops that the session runs on.
  public var loops: [NetworkLoop] { hubs.map(\.loop) }

  /// The event loop that the session runs on, or the first of its loops if there are several.
  public var loop: NetworkLoop { hubs[0].loop }

  /// The node on `loop`, for code that runs on the loop's thread.
  public var node: SessionNode { hubs[0].node }

  init(
    _ nodes: [SessionNode], admit: (@Sendable (PeerInfo) -> Admission)?,
    directory: (@Sendable (SessionEvent) -> Void)? = nil, gate: PeerGate? = nil,
    joinedWith settings: JoinSettings? = nil
  ) async {
    let events = Inbox<PeerEvent>(
      limit: PeerEvents.limit, overflow: .dropOldestAndReport { .missed(events: $0) })
    let inboxes = InboxRegistry()
    eventInbox = events
    self.settings = settings
    self.inboxes = inboxes
    hubs = nodes.map {
      SessionHub(
        node: $0, events: events, inboxes: inboxes, admit: admit, directory: directory,
        gate: gate)
    }
    inboxes.setHubs(hubs)
    for hub in hubs { await hub.begin() }
  }

  /// Runs `body` with the session of a node in matchmaking mode, which accepts every peer.
  /// `directory` receives the node's `advertise` and `connect` events, on the loop.
  package static func run<Result>(
    matching node: SessionNode, directory: @escaping @Sendable (SessionEvent) -> Void,
    _ body: (Session) async throws -> Result
  ) async throws -> Result {
    let session = await Session([node], admit: { _ in .accept }, directory: directory)
    return try await session.run { try await body(session) }
  }

  func run<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      let result = try await body()
      await end(Goodbye(.finished))
      return result
    } catch {
      await end(Goodbye(.left))
      throw error
    }
  }

  /// Ends the session after sending `goodbye` to all peers. A peer's last datagrams may arrive on
  /// any loop, so no node closes its sockets before every node has sent its goodbyes.
  private func end(_ goodbye: Goodbye) async {
    await withTaskGroup { tasks in
      for hub in hubs { tasks.addTask { await hub.node.sendGoodbyes(goodbye) } }
    }
    for hub in hubs { await hub.node.closeSockets() }
    eventInbox.finish()
    inboxes.end()
    for hub in hubs { await hub.end() }
  }

  /// Waits until the session has ended or the task is cancelled.
  package func waitForEnd() async {
    let end = Inbox<Never>(limit: 1, overflow: .pause)
    let number = inboxes.whenEnded { end.finish() }
    _ = await end.next()
    if let number { inboxes.forget(number) }
  }
}

// MARK: - Peers
extension Session {
  /// The events of all peers since the start of the session, in order for each peer, for one reader
  /// at a time.
  public var events: PeerEvents { PeerEvents(inbox: eventInbox) }

  /// Returns the next event, or nil if there is none now. Intended for a game loop that polls once
  /// per frame. Can be called from any thread.
  public func poll() -> PeerEvent? { eventInbox.pop() }

  /// Adds an observer, for logs and counters. `observer` is called with every event from now on;
  /// the reader of `events` still receives all of them. `observer` runs on the loop of the event's
  /// peer and must not block. With several loops, it may run on two of them at the same time.
  public func observe(_ observer: @escaping @Sendable (PeerEvent) -> Void) async {
    for hub in hubs { await hub.observe(observer) }
  }

  /// All connected peers, grouped by loop and, for each loop, in the order in which they joined.
  public var peers: [Peer] {
    get async {
      var peers: [Peer] = []
      for hub in hubs { peers += await hub.allPeers }
      return peers
    }
  }

  /// The number of player seats that are neither taken nor requested, over all loops.
  public var freeSeats: Int {
    get async { await node.freeSeats }
  }

  /// The token that the host gave this client, or nil if none has arrived or the session does not
  /// use datagrams. Passed to the next `join`, the token saves one of the two round trips of
  /// joining.
  public var joinToken: JoinToken? {
    get async { await node.joinTokens.last }
  }

  /// Reports `inputStopped` when a peer that has sent messages on `channel` sends none for `limit`,
  /// or disconnects. Reports `inputResumed` when its messages arrive again. If `limit` is nil,
  /// stops watching the channel.
  public func watchInput<Message>(on channel: MessageChannel<Message>, limit: Duration?) async {
    for hub in hubs { await hub.node.watchInput(channel: channel.id, limit: limit) }
  }

  /// The counters of each loop, in the order of `loops`.
  public var statistics: [LoopStatistics] {
    get async {
      var statistics: [LoopStatistics] = []
      for hub in hubs { statistics.append(await hub.node.loopStatistics) }
      return statistics
    }
  }
}

// MARK: - Messages
extension Session {
  /// Returns the messages from all peers on one channel, which has one reader at a time. Messages
  /// that arrived before the first reader are kept: all of them on a reliable channel, and the
  /// newest 256 (at most 64 KiB) of all other channels together, on each loop.
  public func messages<Message>(on channel: MessageChannel<Message>) -> Messages<Message> {
    Messages(inbox: inboxes.inbox(for: channel))
  }

  /// Removes and returns the messages that have arrived on one channel since the previous call.
  /// Intended for a game loop that polls once per frame. Can be called from any thread, and never
  /// blocks.
  public func takeMessages<Message>(on channel: MessageChannel<Message>) -> [Received<Message>] {
    inboxes.inbox(for: channel).popAll()
  }

  /// Disconnects, with the reason `protocolViolation`, a peer that sends a message on a channel
  /// that is not in `channels` and has no reader. Include the channels, 0 to 63, of matches and
  /// exchanges that begin later. Without this call, such messages wait for a reader. Can be called
  /// from any thread.
  public func rejectMessages(exceptOn channels: [UInt8]) {
    precondition(channels.allSatisfy { $0 < 64 }, "a channel is 0 to 63")
    var allowed = ChannelMask()
    for channel in channels { allowed.insert(channel) }
    for hub in hubs {
      hub.loop.post { [allowed] in hub.assumeIsolated { $0.rejectMessages(exceptOn: allowed) } }
    }
  }
}

// MARK: - Requests
extension Session {
  /// Answers the requests that arrive over `exchange`, one at a time, until the session ends or the
  /// task is cancelled. If `respond` throws, the requester gets `RequestError.failed`.
  public func respond<Request, Response>(
    to exchange: Exchange<Request, Response>,
    _ respond: (Peer, Request) async throws -> Response
  ) async {
    await inboxes.respond(to: exchange, respond)
  }

  /// The peers that must respond before `send(_:on:acknowledgedBy:within:)` returns.
  public enum Audience: Hashable, Sendable {
    /// All peers that are connected when the message is sent.
    case all
    /// The given peers.
    case peers([Peer])
  }

  /// Sends a message as a request to every peer of `audience`, and waits until all of them have
  /// responded or `limit` has passed. Returns the peers that did not respond, with the reasons.
  public func send<Message>(
    _ message: Message, on exchange: Exchange<Message, Applied>,
    acknowledgedBy audience: Audience = .all, within limit: Duration
  ) async -> [Peer: RequestError] {
    let peers = if case .peers(let peers) = audience { peers } else { await self.peers }
    return await withTaskGroup { group in
      for peer in peers {
        group.addTask { () async -> (Peer, RequestError?) in
          do throws(RequestError) {
            _ = try await peer.request(message, over: exchange, within: limit)
            return (peer, nil)
          } catch { return (peer, error) }
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
  }

  /// A session has no `send` for a channel; the compiler says what to call instead.
  @available(
    *, unavailable,
    message: "call broadcast(_:on:) to send to all peers, or send(_:on:) of one Peer"
  )
  public func send<Message>(_ message: Message, on channel: MessageChannel<Message>) async throws {}
}
