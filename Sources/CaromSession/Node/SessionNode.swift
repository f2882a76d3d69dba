import CaromCore
import CaromProtocol
import CaromTransport

/// One process's end of its sessions: listens, dials, seats peers and carries their messages.
///
/// An actor on the event loop. Code on the same loop calls it without a hop through
/// `assumeIsolated`, and hears its events synchronously through `setHandler`, and its messages
/// without a copy of their own through `setMessageHandler`; a loop that asks once a frame has
/// `poll`. `Session` is the async face of the same node.
///
/// Messages that nobody takes stay with the connection and within the credit that their sender
/// has: whoever reads slowly slows the sender down, and is never disconnected for it.
public actor SessionNode: LoopActor {
  /// The loop whose thread it runs on.
  public nonisolated let loop: NetworkLoop
  /// What this side says of itself.
  public nonisolated let local: PeerInfo

  /// The most events that are held while nobody listens; then the oldest go.
  public static let heldEventLimit = 4096

  /// The kinds of links that it offers and opens.
  public nonisolated let kinds: LinkKinds

  var lobby: Lobby

  // Sockets.
  var listeners: [TCPListener] = []
  /// Datagrams come and leave here; machines know them by their places.
  var sockets: [UDPSocket] = []
  var streams: [ConnectionID: TCPStream] = [:]
  var leaving: [ObjectIdentifier: TCPStream] = [:]
  /// Links whose stream had no room for everything.
  var stalled: [ConnectionID] = []

  // Connections that this side opens.
  var keys: [ConnectionID: ConnectionKey] = [:]
  /// Where they are, for when their stream is wanted again.
  var destinations: [ConnectionID: [Endpoint]] = [:]
  var connecting: [ConnectionID: Task<Void, Never>] = [:]
  var waiters: [ConnectionID: CheckedContinuation<SessionError?, Never>] = [:]
  /// Why the stream of an attempt failed, while datagrams may still be answered.
  var failures: [ConnectionID: TransportError] = [:]

  /// Tokens of hosts that it was a guest of, the newest last.
  var tokens: [JoinToken] = []

  // Others that share its port.
  let share: PortShare?
  /// All nodes of the group, this one among them.
  var fellows: [SessionNode] = []
  nonisolated let mailbox = Mailbox()
  /// Datagrams that came here and are another loop's.
  var datagramsPassedOn: UInt64 = 0
  /// Streams likewise.
  var streamsPassedOn: UInt64 = 0

  // What is told.
  var handler: ((SessionEvent) -> Void)?
  var messageHandler: ((SessionMessage) -> Void)?
  var held = Deque<SessionEvent>()
  /// Channels whose messages stay where they are.
  var parked = ChannelMask()
  /// Links with messages that were left where they are.
  var unread = Deque<ConnectionID>()
  var inputs = InputWatchdog()

  // Who waits.
  var room: [ConnectionID: RoomQueue] = [:]
  var receipts: [ReceiptName: Receipt] = [:]
  var nextTurn: UInt64 = 0
  var idleWaiters: [CheckedContinuation<Void, Never>] = []

  // The turn.
  var timer: LoopTimer?
  var turnEnd: EndOfTurnCallback?
  var hasReadBehindStandstill = false
  var isDraining = false
  /// When it was drained last.
  var lastTurn = Instant.zero
  var needsAnotherRound = false
  var isShutDown = false
  /// Messages are encoded and come here, and packets are put together there, so that each tick's
  /// find room.
  var writer = PacketWriter()
  var incoming: [UInt8] = []
  var outgoing: [UInt8] = []
  nonisolated let outbox = Outbox()

  /// Bytes handed to the transport so far.
  public internal(set) var bytesSent: UInt64 = 0
  /// Bytes that came from the transport so far.
  public internal(set) var bytesReceived: UInt64 = 0
  /// Posted messages that were not taken: the peer was gone, or its queue was full.
  public internal(set) var postsRefused: UInt64 = 0

  /// A node whose owner answers each request for one of its `seats`, or of its `spectatorSeats`.
  public init(
    _ local: PeerInfo, seats: Int, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(), over kinds: LinkKinds = .all, on loop: NetworkLoop
  ) {
    self.loop = loop
    self.local = local
    self.kinds = kinds
    share = nil
    lobby = Lobby(
      local, seats: seats, spectatorSeats: spectatorSeats, timing: timing,
      secret: Self.makeSecret())
  }

  /// A node with one seat that matches players by itself: it is told whom others see with
  /// `sighted`, and says with `connect` and `advertise` what it wants.
  public init(
    matching local: PeerInfo, window: Duration, timing: SessionTiming = SessionTiming(),
    over kinds: LinkKinds = .all, seed: UInt64, on loop: NetworkLoop
  ) {
    self.loop = loop
    self.local = local
    self.kinds = kinds
    share = nil
    lobby = Lobby(
      local, window: window, timing: timing, generator: SeededGenerator(seed: seed),
      secret: Self.makeSecret(), at: loop.now)
  }

  /// A node that shares its port, its seats and its peers' keys with others on other loops.
  init(
    _ local: PeerInfo, sharing share: PortShare, member: Int, timing: SessionTiming,
    over kinds: LinkKinds, on loop: NetworkLoop
  ) {
    self.loop = loop
    self.local = local
    self.kinds = kinds
    self.share = share
    lobby = Lobby(
      local, seats: share.seats, spectatorSeats: share.spectatorSeats, timing: timing,
      secret: share.secret, member: member)
  }

  static func makeSecret() -> HostSecret {
    var generator = SystemRandomNumberGenerator()
    return HostSecret(using: &generator)
  }
}
