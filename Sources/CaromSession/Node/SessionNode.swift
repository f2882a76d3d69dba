import CaromCore
import CaromCrypto
import CaromProtocol
import CaromTransport

/// One process's end of its connections on one event loop. It listens, connects, admits peers and
/// carries messages. `Session` is the asynchronous interface to one or more nodes.
///
/// A node is an actor on the event loop. Code on the same loop calls the node without a thread
/// switch through `assumeIsolated`. It receives events synchronously through `setHandler`, and
/// messages through `setMessageHandler`, without an allocation for each message. A game loop that
/// runs once per frame calls `poll` instead.
///
/// Unread messages stay in their connection, within the credit that the receiver has granted to the
/// sender. A slow reader therefore slows down the sender. It is disconnected only if it reads
/// nothing at all for `SessionTiming.fullQueueLimit` while the sender's queue is full.
public actor SessionNode: LoopActor {
  /// The maximum number of events that are held while there is no handler. Beyond this number, the
  /// oldest events are dropped. If a `closed` event is dropped, so are the unread messages of its
  /// connection.
  public static let heldEventLimit = 4096

  /// The event loop on whose thread the node runs.
  public nonisolated let loop: NetworkLoop
  /// This side's description of itself, which is sent to peers.
  public nonisolated let local: PeerInfo
  /// The node's public key, with which a client that knows it beforehand saves a round trip; nil if
  /// connections are in plaintext or need a code or a token.
  public nonisolated let publicKey: PublicKey?
  /// The kinds of links that the node offers and opens.
  public nonisolated let kinds: LinkKinds
  /// What the node serves to browsers, if `kinds` has `webSocket`.
  nonisolated let browsers: BrowserOptions
  /// The routing bytes on the node's datagrams.
  nonisolated let routing: SessionRouting

  /// The machine that holds the node's connections and, in matchmaking mode, finds an opponent.
  var lobby: Lobby
  var sockets = NodeSockets()
  /// The connections that this side opens, by id.
  var dials: [ConnectionID: Dial] = [:]
  /// The join tokens that hosts have sent and that have not been used yet, newest last.
  public internal(set) var joinTokens: [JoinToken] = []
  /// The nodes that share this node's port; nil if this node does not share its port.
  var group: PortGroup?
  var feed = EventFeed()
  var inputs = InputWatchdog()
  var waiters = NodeWaiters()
  var fullQueues = FullQueues()
  var turn = LoopTurn()
  var isShutDown = false
  /// Whether the node accepts connect tokens, so that its machine needs to know the time of day.
  nonisolated let acceptsTickets: Bool
  /// The simulated conditions of the network; nil if datagrams are sent as they are.
  var simulation: SimulatedConditions?

  /// The scratch buffers, which are reused so that sending and receiving do not allocate: `writer`
  /// for encoding, `incoming` for a received message, and `arrivals` for the messages that are read
  /// from the datagrams of a batch.
  var writer = PacketWriter()
  var incoming: [UInt8] = []
  var arrivals = Arrivals()

  /// The messages that other threads have posted.
  nonisolated let posts = PostQueue<Post>(
    limit: PostedMessage.limit, byteLimit: PostedMessage.byteLimit)
  /// The connections for which too many posted messages wait for room in the send queue.
  nonisolated let fullPostQueues = Locked<Set<ConnectionID>>([])
  /// The datagrams that other nodes of the group have forwarded. They have a queue of their own, so
  /// that a flood of datagrams does not displace other handoffs.
  nonisolated let relayedDatagrams = PostQueue<Handoff>(limit: NodeHandoff.datagramLimit)
  nonisolated let handoffs = PostQueue<NodeHandoff>(limit: NodeHandoff.streamLimit)

  /// The number of bytes that the node has passed to its sockets.
  public internal(set) var bytesSent: UInt64 = 0
  /// The number of bytes that the node has read from its sockets.
  public internal(set) var bytesReceived: UInt64 = 0
  /// The number of posted messages that could not be sent, because the peer had disconnected.
  public internal(set) var postsRefused: UInt64 = 0

  /// Creates a node that hosts `seats` players and `spectatorSeats` spectators. Its owner answers
  /// each request for a seat. If `security` has an identity, the node has the id of that identity.
  /// If it is `encryptedBelow`, the node uses only streams. `routing` has the bytes that its
  /// datagrams carry for a proxy.
  public init(
    _ local: PeerInfo, seats: Int, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(), over kinds: LinkKinds = .all,
    security: SessionSecurity = .none, browsers: BrowserOptions = BrowserOptions(),
    routing: SessionRouting = SessionRouting(), on loop: NetworkLoop
  ) {
    self.loop = loop
    self.browsers = browsers
    self.routing = routing
    self.kinds = security.requiresSealedStreams ? .stream : kinds
    fullQueues.limit = timing.fullQueueLimit
    let host = Host(
      local, seats: seats, spectatorSeats: spectatorSeats, timing: timing,
      secret: Self.makeSecret(on: loop), security: security.makeLinkSecurity(on: loop),
      requiresSealedStreams: security.requiresSealedStreams, routingLength: routing.sentLength)
    lobby = Lobby(host)
    self.local = lobby.host.local
    publicKey = lobby.host.knownKey
    acceptsTickets = security.acceptsTickets
    lobby.host.setWallClock(.now, at: loop.now)
    lobby.host.expectsTLS = browsers.encryption != nil
  }

  /// Creates a node with one seat, in matchmaking mode. The owner reports the hosts that discovery
  /// finds with `addHost` and `removeHost`, and acts on the events `connect` and `advertise`. Until
  /// `window` has passed, the node advertises the status `searching`; after that, `waiting`.
  public init(
    matching local: PeerInfo, window: Duration, timing: SessionTiming = SessionTiming(),
    over kinds: LinkKinds = .all, security: SessionSecurity = .none, seed: UInt64,
    on loop: NetworkLoop
  ) {
    precondition(security.policy != .token, "connect tokens cannot be used for matchmaking")
    precondition(
      !security.requiresSealedStreams, "matchmaking opens its streams itself, in plaintext")
    self.loop = loop
    browsers = BrowserOptions()
    routing = SessionRouting()
    self.kinds = kinds.subtracting(.webSocket)
    fullQueues.limit = timing.fullQueueLimit
    let host = Host(
      local, seats: 1, timing: timing, secret: Self.makeSecret(on: loop),
      security: security.makeLinkSecurity(on: loop))
    lobby = Lobby(
      matching: host, window: window, generator: SeededGenerator(seed: seed), at: loop.now)
    self.local = lobby.host.local
    publicKey = lobby.host.knownKey
    acceptsTickets = false
  }

  /// Creates a node that shares its port, its seats and its directory with nodes on other loops.
  init(
    _ local: PeerInfo, sharing share: PortShare, member: Int, timing: SessionTiming,
    over kinds: LinkKinds, on loop: NetworkLoop
  ) {
    self.loop = loop
    browsers = share.browsers
    routing = share.routing
    self.kinds = share.security.requiresSealedStreams ? .stream : kinds
    group = PortGroup(share: share)
    fullQueues.limit = timing.fullQueueLimit
    let host = Host(
      local, seats: share.seats, spectatorSeats: share.spectatorSeats, timing: timing,
      secret: share.secret, security: share.security.makeLinkSecurity(on: loop),
      requiresSealedStreams: share.security.requiresSealedStreams,
      routingLength: share.routing.sentLength, member: member)
    lobby = Lobby(host)
    self.local = lobby.host.local
    publicKey = lobby.host.knownKey
    acceptsTickets = share.security.acceptsTickets
    lobby.host.setWallClock(.now, at: loop.now)
    lobby.host.expectsTLS = browsers.encryption != nil
  }

  static func makeSecret(on loop: NetworkLoop) -> HostSecret {
    var generator = LoopGenerator(of: loop)
    return HostSecret(using: &generator)
  }

  /// Tells the machine the time of day, if it needs it. Call this before passing on input that may
  /// contain a connect token. In a simulation, the time of day passes as the simulated time does.
  func updateWallClock() {
    guard acceptsTickets, !loop.isSimulated else { return }
    lobby.host.setWallClock(.now, at: loop.now)
  }
}
