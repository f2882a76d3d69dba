import CaromCodec
import CaromCore

/// One peer relation: handshake, messages, pings, goodbye, over a stream link, a datagram link or
/// both. Messages belong to it and outlive its links: what a link did not bring goes by another.
///
/// A polled machine: bytes, the links' ends, time and intents go in; `pollStream`,
/// `pollDatagram`, `pollEvent`, `pollLinkAction` and `nextTimeout` come out. The layout of its
/// packets is the WireFormat page.
package struct Connection: Sendable {
  enum State: Hashable {
    /// The other side called; its request has not come yet.
    case awaitingRequest(deadline: Instant)
    /// It asked for a seat; the owner has not answered yet.
    case requested(PeerInfo, deadline: Instant)
    /// This side asked for a seat.
    case awaitingGrant(deadline: Instant)
    case open(PeerInfo)
    /// The goodbye leaves, behind everything that was taken before; nothing is read any more.
    case closing(deadline: Instant)
    /// The peer's goodbye came, and may come again until it knows that.
    case lingering(deadline: Instant)
    case closed

    var isEnding: Bool {
      switch self {
      case .closing, .lingering, .closed: true
      default: false
      }
    }
  }

  /// That the other side is there still: it acknowledges what was sent behind its stream's end.
  /// What it had sent before may come behind the end, and proves nothing.
  struct Proof: Sendable {
    let packet: UInt64
    let deadline: Instant
    /// Why the connection is lost otherwise.
    let reason: DisconnectReason
  }

  let local: PeerInfo
  let timing: SessionTiming
  let isCaller: Bool
  /// What ties its links together; the called side learns it from the first link.
  package internal(set) var key: ConnectionKey
  var state: State
  var channels = ChannelSet()
  /// The stream, or none.
  var streams: [StreamPath] = []
  /// The way over datagrams, or none: in an array, so that it is asked and changed where it lies,
  /// and whoever has none keeps no room for it.
  var datagrams: [DatagramPath] = []
  var events = Deque<ConnectionEvent>()
  /// Whether messages came since the owner was told, before all of `events`.
  var hasNewMessages = false
  var linkAction: LinkAction?
  var pinger: Pinger
  var heardAt: Instant
  /// `timing.silenceLimit` in nanoseconds: it is added at each packet, and a `Duration` takes long.
  let silenceLimit: Int64
  /// Whether this side asked for a seat over datagrams.
  var hasAsked = false
  /// The goodbye that waits for everything before it.
  var goodbye: Goodbye?
  /// What the datagram link has to show, since the stream ended without a word.
  var proof: Proof?
  /// Since when no link works, in a connection that may be resumed.
  var interruptedAt: Instant?
  var lastKind: LinkKind?
  /// When windows may grow again, on a stream alone.
  var nextGrowth = Instant.zero
  /// Lent by the host for as long as it touches the connection.
  var scratch = Scratch()

  /// How many packets of an unknown type or action came.
  package internal(set) var unknownPackets = 0

  init(
    local: PeerInfo, timing: SessionTiming, key: ConnectionKey, isCaller: Bool, state: State,
    at now: Instant
  ) {
    self.local = local
    self.timing = timing
    self.key = key
    self.isCaller = isCaller
    self.state = state
    heardAt = now
    silenceLimit = timing.silenceLimit.wholeNanoseconds
    pinger = Pinger(timing: timing)
  }

  /// A connection on a stream that the other side opened: it waits for the request.
  package static func accepting(
    as local: PeerInfo, timing: SessionTiming, at now: Instant
  ) -> Connection {
    let deadline = now.advanced(by: timing.handshakeLimit)
    var connection = Connection(
      local: local, timing: timing, key: .none, isCaller: false,
      state: .awaitingRequest(deadline: deadline), at: now)
    connection.stream = StreamPath(limit: handshakeFrameLimit)
    return connection
  }

  /// A connection that this side opens: it asks for a seat on each link that is added.
  package static func calling(
    as local: PeerInfo, timing: SessionTiming, key: ConnectionKey, at now: Instant
  ) -> Connection {
    let deadline = now.advanced(by: timing.handshakeLimit)
    return Connection(
      local: local, timing: timing, key: key, isCaller: true,
      state: .awaitingGrant(deadline: deadline), at: now)
  }

  /// A connection on a stream that this side opened: it asks for a seat at once.
  package static func requesting(
    as local: PeerInfo, timing: SessionTiming, key: ConnectionKey = .none, at now: Instant
  ) -> Connection {
    var connection = calling(as: local, timing: timing, key: key, at: now)
    connection.addStream(at: now)
    return connection
  }

  /// The peer, once it has said who it is.
  package var peer: PeerInfo? {
    switch state {
    case .requested(let info, _), .open(let info): info
    default: nil
    }
  }

  /// The stream as a value, for what is rare.
  var stream: StreamPath? {
    get { streams.first }
    _modify {
      var path = streams.popLast()
      defer { if let path { streams.append(path) } }
      yield &path
    }
  }

  /// The way over datagrams as a value, for what is rare.
  var datagram: DatagramPath? {
    get { datagrams.first }
    _modify {
      var path = datagrams.popLast()
      defer { if let path { datagrams.append(path) } }
      yield &path
    }
  }

  package var isOpen: Bool { if case .open = state { true } else { false } }
  /// Whether the peer has said goodbye, and only may not know yet that it was heard.
  package var isLingering: Bool { if case .lingering = state { true } else { false } }
  package var isClosed: Bool { if case .closed = state { true } else { false } }

  /// Whether it has told its end already, though a goodbye may still be leaving.
  package var isEnding: Bool { state.isEnding }

  /// What is known of the way to the peer.
  package var roundTrip: RoundTrip { pinger.roundTrip }

  /// Bytes of messages that have not left.
  package var queuedBytes: Int { channels.pendingBytes + (stream?.waitingBytes ?? 0) }

  /// What carries messages now; `nil` when nothing does.
  package var link: LinkKind? { currentLink }

  /// `link`, always inlined: a call would copy the connection.
  @inline(__always) var currentLink: LinkKind? {
    let isJoined = !streams.isEmpty && streams[0].isJoined
    if !datagrams.isEmpty, datagrams[0].isAnswered || (datagrams[0].isOpen && !isJoined) {
      return .datagram
    }
    return isJoined ? .stream : nil
  }

  /// The longest frame of a link that has no seat yet: requests are far shorter, and thousands of
  /// strangers must not have a whole message's room each.
  package static let handshakeFrameLimit = 4 << 10
  /// The longest message.
  package static let maximumMessageLength = MessageFrame.maximumMessage
  /// How long datagrams may still be answered when a stream was refused: four hellos leave.
  static let datagramGrace = Duration.seconds(1)
  /// How long a goodbye that could not wait any longer has to leave.
  static let lastWordLimit = Duration.milliseconds(50)
  /// How long a datagram link has to show a sign of life when the stream beside it was cut.
  static let proofLimit = Duration.seconds(1)
}

// MARK: - Intents
extension Connection {
  /// Grants the seat that was asked for.
  package mutating func admit(at now: Instant) {
    guard case .requested(let info, _) = state else { return }
    sayOnEveryLink(.grant(version: SessionWire.version, local), at: now)
    open(info, at: now)
  }

  /// Says goodbye with a reason for the other side, and ends here with one for this side.
  package mutating func close(
    _ goodbye: Goodbye, as reason: DisconnectReason = .closedLocally, at now: Instant
  ) {
    guard !isEnding else { return }
    finish(reason)
    guard !streams.isEmpty || datagram?.isOpen == true else {
      state = .closed
      return
    }
    channels.dropUnreliable()
    state = .closing(deadline: now.advanced(by: timing.closeLimit))
    self.goodbye = goodbye
    sayGoodbyeWhenDrained(at: now)
  }

  /// Queues or offers a message; see `Delivery`. Returns its number where a receipt is wanted.
  @discardableResult
  package mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, at now: Instant
  ) throws(SendError) -> UInt64? {
    guard isOpen else { throw .notConnected }
    return try channels.send(bytes, on: channel, options, at: now)
  }

  /// The next message of the application, where it lies; `false` when there is none.
  package mutating func pollMessage(
    parking: ChannelMask = ChannelMask(), _ body: (_ channel: UInt8, _ bytes: Span<UInt8>) -> Void
  ) -> Bool {
    channels.pollMessage(parking: parking) { channel, _, bytes in body(channel, bytes) }
  }
}

// MARK: - Ends
extension Connection {
  /// Tells the end, behind the messages that came before it.
  mutating func finish(_ reason: DisconnectReason) {
    if isOpen, channels.hasMessages { events.append(.messages) }
    events.append(.closed(reason))
  }

  /// Nothing more leaves or comes.
  mutating func end() {
    if !streams.isEmpty { linkAction = .cut }
    streams = []
    datagrams = []
    state = .closed
  }

  mutating func violate(at now: Instant) {
    close(Goodbye(.protocolViolation), as: .protocolViolation, at: now)
  }

  /// The goodbye leaves behind everything that was taken.
  mutating func sayGoodbyeWhenDrained(at now: Instant) {
    guard case .closing = state, goodbye != nil else { return }
    if currentLink == .datagram {
      guard channels.isDrained else { return }
    } else {
      guard !channels.hasPending || stream?.isJoined != true else { return }
    }
    sayGoodbye(at: now)
  }

  private mutating func sayGoodbye(at now: Instant) {
    guard let goodbye else { return }
    self.goodbye = nil
    sayOnEveryLink(.goodbye(goodbye), at: now)
  }

  /// Time has come to `nextTimeout`.
  package mutating func handleTimeout(at now: Instant) {
    handleLinkTimeouts(at: now)
    switch state {
    case .awaitingRequest(let deadline), .awaitingGrant(let deadline),
      .requested(_, let deadline):
      if now >= deadline { close(Goodbye(.timedOut), as: .handshakeTimeout, at: now) }
    case .open: handleOpenTimeout(at: now)
    case .closing(let deadline) where now >= deadline && goodbye != nil:
      // What was before it was not acknowledged in time: the peer hears the end all the same.
      sayGoodbye(at: now)
      state = .closing(deadline: now.advanced(by: Self.lastWordLimit))
    case .closing(let deadline), .lingering(let deadline):
      if now >= deadline { end() }
    case .closed: break
    }
  }

  private mutating func handleOpenTimeout(at now: Instant) {
    if let proof, now >= proof.deadline { return lose(as: proof.reason, at: now) }
    if now >= endOfPatience { return lose(as: .timedOut, at: now) }
    guard interruptedAt == nil else { return }
    if let ping = pinger.handleTimeout(at: now) { say(ping, at: now) }
  }

  /// When `handleTimeout` wants to be called.
  package var nextTimeout: Instant? {
    var copy = self
    return copy.findTimeout()
  }

  /// `nextTimeout`, asked in place: nothing is copied.
  mutating func findTimeout() -> Instant? {
    var links: Instant?
    // Behind the end nothing is read, and half a frame is not waited for.
    if !isEnding, !streams.isEmpty { links = streams[0].nextTimeout }
    if !datagrams.isEmpty {
      let hasPending = channels.hasPending && currentLink == .datagram
      links = earliest(links, datagrams[0].findTimeout(hasPending: hasPending))
    }
    let own: Instant?
    switch state {
    case .awaitingRequest(let deadline), .awaitingGrant(let deadline),
      .requested(_, let deadline), .closing(let deadline), .lingering(let deadline):
      own = deadline
    case .open:
      own = earliest(
        earliest(endOfPatience, proof?.deadline),
        earliest(interruptedAt == nil ? pinger.nextTimeout : nil, channels.nextTimeout))
    case .closed: return nil
    }
    return earliest(links, own)
  }

  /// Changes whenever its datagrams come from elsewhere.
  var moves: UInt32 { datagrams.isEmpty ? 0 : datagrams[0].moves }

  /// When the silence has lasted too long, or the interruption has.
  @inline(__always) private var endOfPatience: Instant {
    if let interruptedAt { return interruptedAt.advanced(by: timing.resumeLimit) }
    return heardAt.advanced(byNanoseconds: silenceLimit)
  }
}
