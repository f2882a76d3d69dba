import CaromCore
import CaromProtocol
import CaromTransport

/// One process's end of its connections on one event loop: listens, connects, admits peers and
/// carries messages. `Session` is the asynchronous interface to one or more nodes.
///
/// A node is an actor on the event loop. Code on the same loop calls it without a thread switch
/// through `assumeIsolated`. It receives events synchronously through `setHandler`, and messages
/// through `setMessageHandler`, without an allocation for each message. A game loop that runs once
/// per frame calls `poll` instead.
///
/// Unread messages stay in their connection, within the credit that the receiver has granted to the
/// sender. A slow reader therefore slows down the sender, and is never disconnected for it.
public actor SessionNode: LoopActor {
  /// The most events that are held while there is no handler. After that the oldest are dropped.
  public static let heldEventLimit = 4096

  /// The event loop on whose thread the node runs.
  public nonisolated let loop: NetworkLoop
  /// This side's description of itself, which is sent to peers.
  public nonisolated let local: PeerInfo
  /// The kinds of links that the node offers and opens.
  public nonisolated let kinds: LinkKinds

  /// The protocol machine.
  var lobby: Lobby
  var sockets = NodeSockets()
  /// Connections that this side opens.
  var dials: [ConnectionID: Dial] = [:]
  /// Join tokens from hosts, newest last, each until it is used.
  public internal(set) var joinTokens: [JoinToken] = []
  /// The nodes that share this node's port; nil if this node does not share its port.
  var group: PortGroup?
  var feed = EventFeed()
  var inputs = InputWatchdog()
  var waiters = NodeWaiters()
  var turn = LoopTurn()
  var isShutDown = false

  /// Scratch buffers, reused so that sending and receiving do not allocate: `writer` for encoding,
  /// `incoming` for a received message, and `outgoing` for a datagram or a part of a stream.
  var writer = PacketWriter()
  var incoming: [UInt8] = []
  var outgoing: [UInt8] = []

  /// Messages posted from other threads.
  nonisolated let posts = PostQueue<PostedMessage>(
    limit: PostedMessage.limit, byteLimit: PostedMessage.byteLimit)
  /// Datagrams, and everything else, from other nodes of the group. A flood of datagrams must not
  /// crowd out the rest.
  nonisolated let relayedDatagrams = PostQueue<Handoff>(limit: NodeHandoff.datagramLimit)
  nonisolated let handoffs = PostQueue<NodeHandoff>(limit: NodeHandoff.streamLimit)

  /// The number of bytes that the node has handed to its sockets.
  public internal(set) var bytesSent: UInt64 = 0
  /// The number of bytes that the node has read from its sockets.
  public internal(set) var bytesReceived: UInt64 = 0
  /// Posted messages that could not be queued on the loop, because the peer had disconnected or its
  /// send queue was full.
  public internal(set) var postsRefused: UInt64 = 0

  /// Creates a node that hosts `seats` players and `spectatorSeats` spectators. Its owner answers
  /// each request for a seat.
  public init(
    _ local: PeerInfo, seats: Int, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(), over kinds: LinkKinds = .all, on loop: NetworkLoop
  ) {
    self.loop = loop
    self.local = local
    self.kinds = kinds
    lobby = Lobby(
      local, seats: seats, spectatorSeats: spectatorSeats, timing: timing,
      secret: Self.makeSecret())
  }

  /// Creates a node with one seat, in matchmaking mode. The owner reports hosts that discovery
  /// finds with `addHost` and `removeHost`, and acts on the events `connect` and `advertise`. The
  /// node advertises itself as searching for the time `window`, and then as waiting.
  public init(
    matching local: PeerInfo, window: Duration, timing: SessionTiming = SessionTiming(),
    over kinds: LinkKinds = .all, seed: UInt64, on loop: NetworkLoop
  ) {
    self.loop = loop
    self.local = local
    self.kinds = kinds
    lobby = Lobby(
      local, window: window, timing: timing, generator: SeededGenerator(seed: seed),
      secret: Self.makeSecret(), at: loop.now)
  }

  /// Creates a node that shares its port, its seats and the table of connections with nodes on
  /// other loops.
  init(
    _ local: PeerInfo, sharing share: PortShare, member: Int, timing: SessionTiming,
    over kinds: LinkKinds, on loop: NetworkLoop
  ) {
    self.loop = loop
    self.local = local
    self.kinds = kinds
    group = PortGroup(share: share)
    lobby = Lobby(
      local, seats: share.seats, spectatorSeats: share.spectatorSeats, timing: timing,
      secret: share.secret, member: member)
  }

  static func makeSecret() -> HostSecret {
    var generator = SystemRandomNumberGenerator()
    return HostSecret(using: &generator)
  }
}
