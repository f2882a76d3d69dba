import CaromCore
import CaromProtocol
import CaromTransport

/// One process's end of its sessions: listens, dials, seats peers and carries their messages.
///
/// An actor on the event loop. Code on the same loop calls it without a hop through
/// `assumeIsolated`, and hears its events synchronously through `setHandler`; `Session` is the
/// async face of the same node.
public actor SessionNode: LoopActor {
  /// The loop whose thread it runs on.
  public nonisolated let loop: EventLoop
  /// What this side says of itself.
  public nonisolated let local: PeerInfo

  /// The most events that are held while nobody listens; then the newest messages end their
  /// connection with `overrun`.
  public static let heldEventLimit = 4096
  /// The most bytes of messages that are held while nobody listens.
  public static let heldByteLimit = 4 << 20

  var lobby: Lobby
  private var listeners: [TCPListener] = []
  private var streams: [LinkID: TCPStream] = [:]
  private var connecting: [LinkID: Task<Void, Never>] = [:]
  private var leaving: [ObjectIdentifier: TCPStream] = [:]
  private var timer: LoopTimer?
  private var handler: ((SessionEvent) -> Void)?
  private var held: [SessionEvent] = []
  private var heldBytes = 0
  private var waiters: [LinkID: CheckedContinuation<DisconnectReason?, Never>] = [:]
  private var idleWaiters: [CheckedContinuation<Void, Never>] = []
  /// Links whose stream had no room for everything.
  private var stalled: [LinkID] = []
  /// Messages are encoded here, and packets put together there, so that each tick's find room.
  private var writer = PacketWriter()
  private var outgoing: [UInt8] = []
  private var isDraining = false
  private var needsAnotherRound = false
  private var isShutDown = false

  /// Bytes handed to the transport so far.
  public private(set) var bytesSent: UInt64 = 0
  /// Bytes that came from the transport so far.
  public private(set) var bytesReceived: UInt64 = 0

  /// A node whose owner answers each request for one of its `seats`.
  public init(
    _ local: PeerInfo, seats: Int, timing: SessionTiming = SessionTiming(), on loop: EventLoop
  ) {
    self.loop = loop
    self.local = local
    lobby = Lobby(local, seats: seats, timing: timing)
  }

  /// A node with one seat that matches players by itself: it is told whom others see with
  /// `sighted`, and says with `connect` and `advertise` what it wants.
  public init(
    matching local: PeerInfo, window: Duration, timing: SessionTiming = SessionTiming(),
    seed: UInt64, on loop: EventLoop
  ) {
    self.loop = loop
    self.local = local
    lobby = Lobby(
      local, window: window, timing: timing, generator: SeededGenerator(seed: seed), at: loop.now)
  }

  /// Events go to `handle` from now on, inside `owner`, an actor on the same loop, held weakly.
  /// Those that came before are told first.
  public func setHandler<Owner: Actor>(
    owner: Owner, _ handle: @escaping @Sendable (isolated Owner, SessionEvent) -> Void
  ) {
    handler = Isolated(owner, on: loop).bind(handle)
    drain()
  }
}

// MARK: - Links
extension SessionNode {
  /// Listens for peers on every one of `addresses`, all on one port; 0 lets the system choose.
  /// Returns the port.
  public func listen(
    on addresses: [IPAddress] = [.any4, .any6], port: UInt16 = 0
  ) throws(TransportError) -> UInt16 {
    var bound: [TCPListener] = []
    var chosen = port
    for address in addresses {
      let listener = try TCPListener(
        on: loop, owner: self, bind: Endpoint(address, port: chosen)
      ) { node, event in
        if case .accepted(let stream) = event { node.accept(stream) }
      }
      chosen = listener.localEndpoint.port
      bound.append(listener)
    }
    listeners += bound
    return chosen
  }

  private func accept(_ stream: TCPStream) {
    // Links that are on their way out still cost a descriptor each.
    guard leaving.count < Host.linkLimit else { return stream.reset() }
    let link = lobby.makeLink()
    guard lobby.accept(link, at: loop.now) else { return stream.reset() }
    adopt(stream, as: link)
  }

  /// Connects to the first of `endpoints` that answers and asks for a seat there.
  ///
  /// Returns when the seat is granted. Cancelling the task gives the attempt up.
  public func connect(
    to endpoints: [Endpoint], within limit: Duration = .seconds(10)
  ) async throws(SessionError) -> LinkID {
    let stream: TCPStream
    do throws(TransportError) {
      stream = try await TCPStream.connect(to: endpoints, on: loop, deadline: limit)
    } catch { throw .transport(error) }
    guard !isShutDown else {
      stream.close()
      throw .transport(.cancelled)
    }
    let link = lobby.makeLink()
    _ = lobby.handleConnected(link, at: loop.now)
    let refusal = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiters[link] = continuation
        adopt(stream, as: link)
      }
    } onCancel: {
      Task(executorPreference: loop) { await self.close(link, Goodbye(.left)) }
    }
    if let refusal { throw .refused(refusal) }
    return link
  }

  /// Opens the link that a `connect` event asked for; it may come to nothing.
  public func open(_ link: LinkID, to endpoints: [Endpoint], within limit: Duration = .seconds(5)) {
    guard !isShutDown else { return }
    connecting[link] = Task { await self.dial(link, to: endpoints, within: limit) }
  }

  private func dial(_ link: LinkID, to endpoints: [Endpoint], within limit: Duration) async {
    do throws(TransportError) {
      let stream = try await TCPStream.connect(to: endpoints, on: loop, deadline: limit)
      connecting[link] = nil
      guard !isShutDown, lobby.handleConnected(link, at: loop.now) else { return stream.close() }
      adopt(stream, as: link)
    } catch {
      connectFailed(link)
    }
  }

  /// The link that a `connect` event asked for cannot be opened.
  public func connectFailed(_ link: LinkID) {
    connecting[link] = nil
    lobby.handleConnectFailed(link, at: loop.now)
    drain()
  }

  /// A peer was found, or says something new of itself.
  public func sighted(_ sighting: Sighting) {
    lobby.handle(sighting, at: loop.now)
    drain()
  }

  /// A peer is gone.
  public func lost(_ peer: PeerID) {
    lobby.handleGone(peer, at: loop.now)
    drain()
  }

  private func adopt(_ stream: TCPStream, as link: LinkID) {
    streams[link] = stream
    stream.queueLimit = SessionLink.queueLimit
    stream.setHandler(owner: self) { node, event in
      switch event {
      case .bytes(let bytes): node.receive(bytes, on: link)
      case .writable: node.drain()
      case .end: node.linkEnded(link, .ended)
      case .closed(let error): node.linkClosed(link, error)
      }
    }
    drain()
  }

  private func receive(_ bytes: Span<UInt8>, on link: LinkID) {
    bytesReceived += UInt64(bytes.count)
    lobby.receive(bytes, on: link, at: loop.now)
    drain()
  }

  private func linkClosed(_ link: LinkID, _ error: TransportError?) {
    linkEnded(link, error == .timedOut ? .timedOut : error == nil ? .ended : .reset)
  }

  private func linkEnded(_ link: LinkID, _ end: LinkEnd) {
    lobby.handleLinkEnd(end, of: link, at: loop.now)
    if let stream = streams.removeValue(forKey: link) { part(with: stream, abruptly: false) }
    drain()
  }
}

// MARK: - Intents
extension SessionNode {
  /// Grants the seat that a `requested` event asked for.
  public func admit(_ link: LinkID) {
    lobby.admit(link, at: loop.now)
    drain()
  }

  /// Says goodbye: declines a request, or ends a connection. `closed` tells `reason` here.
  public func close(
    _ link: LinkID, _ goodbye: Goodbye, as reason: DisconnectReason = .closedHere
  ) {
    lobby.close(link, goodbye, as: reason, at: loop.now)
    drain()
  }

  /// Queues a message; on a reliable channel it arrives once and in order, on a latest-wins
  /// channel it may be replaced by the next.
  public func send<Message>(
    _ message: Message, on channel: Channel<Message>, to link: LinkID
  ) throws(SendError) {
    writer.removeAll()
    message.encode(into: &writer)
    defer {
      if writer.count > SessionLink.pieceLength { writer = PacketWriter() }
      drain()
    }
    switch channel.delivery {
    case .reliableOrdered: try lobby.send(writer.bytes.span, on: channel.id, to: link)
    case .unreliableSequenced: try lobby.post(writer.bytes.span, on: channel.id, to: link)
    }
  }

  /// The links of all connected peers, in the order of opening.
  public var peers: [(link: LinkID, info: PeerInfo)] {
    lobby.links.compactMap { link in
      guard let connection = lobby.host.connection(link), connection.isOpen,
        let info = connection.peer
      else { return nil }
      return (link, info)
    }
  }

  /// Whether the peer asked this side for a seat, rather than this side the peer.
  public func isIncoming(_ link: LinkID) -> Bool { lobby.host.isIncoming(link) }

  /// What is known of the way to a peer.
  public func roundTrip(to link: LinkID) -> RoundTrip? { lobby.host.connection(link)?.roundTrip }

  /// How many seats nobody holds or has asked for.
  public var freeSeats: Int { lobby.host.freeSeats }

  /// Says goodbye to everybody, and from now on neither listens nor matches: nobody sits down with
  /// a node that is about to go.
  public func retire(_ goodbye: Goodbye = Goodbye(.left)) {
    guard !isShutDown else { return }
    isShutDown = true
    for listener in listeners { listener.close() }
    listeners = []
    for task in connecting.values { task.cancel() }
    lobby.retire(goodbye, at: loop.now)
    drain()
  }

  /// Retires, and returns when all goodbyes have left, at the latest after
  /// `SessionTiming.closeLimit`.
  public func shutdown(_ goodbye: Goodbye = Goodbye(.left)) async {
    retire(goodbye)
    guard !streams.isEmpty || !leaving.isEmpty else { return }
    await withCheckedContinuation { idleWaiters.append($0) }
  }
}

// MARK: - Drain
extension SessionNode {
  /// The one place that talks to sockets: after each mutation, polls the machine to dry.
  private func drain() {
    guard !isDraining else {
      needsAnotherRound = true
      return
    }
    isDraining = true
    repeat {
      needsAnotherRound = false
      flushReady(at: loop.now)
      tellEvents()
    } while needsAnotherRound
    isDraining = false
    for link in stalled { lobby.remainsReady(link) }
    stalled.removeAll(keepingCapacity: true)
    rearm()
    settleIdle()
  }

  private func flushReady(at now: Instant) {
    while let link = lobby.pollReady() {
      flush(link, at: now)
      if lobby.host.hasOutput(link) { stalled.append(link) }
    }
  }

  private func flush(_ link: LinkID, at now: Instant) {
    guard let stream = streams[link] else { return }
    while true {
      outgoing.removeAll(keepingCapacity: true)
      let queued = stream.queuedBytes
      guard lobby.pollTransmit(on: link, queued: queued, into: &outgoing, at: now) else { break }
      do throws(TransportError) {
        try stream.write(outgoing.span)
        bytesSent += UInt64(outgoing.count)
      } catch {
        lobby.handleLinkEnd(.reset, of: link, at: now)
        streams[link] = nil
        return part(with: stream, abruptly: true)
      }
    }
    guard let action = lobby.pollLinkAction(on: link) else { return }
    streams[link] = nil
    part(with: stream, abruptly: action == .cut)
  }

  /// The machine has forgotten the link: the stream finishes by itself, or is cut.
  private func part(with stream: TCPStream, abruptly: Bool) {
    let id = ObjectIdentifier(stream)
    leaving[id] = stream
    stream.setHandler(owner: self) { node, event in
      guard case .closed = event else { return }
      node.leaving[id] = nil
      node.settleIdle()
    }
    if abruptly { stream.reset() } else { stream.close() }
    if !stream.isOpen { leaving[id] = nil }
  }

  private func tellEvents() {
    tellHeld()
    while let event = lobby.pollEvent() {
      if case .cancelConnect(let link) = event {
        connecting.removeValue(forKey: link)?.cancel()
      } else if let event = SessionEvent(event) {
        answerWaiter(event)
        if isShutDown, event.isMatching { continue }
        if let handler { handler(event) } else { hold(event) }
      }
    }
  }

  /// What came before there was a handler.
  private func tellHeld() {
    guard let handler, !held.isEmpty else { return }
    let events = held
    held = []
    heldBytes = 0
    for event in events where !isShutDown || !event.isMatching { handler(event) }
  }

  private func hold(_ event: SessionEvent) {
    if case .message(let link, _, let bytes) = event {
      guard held.count < Self.heldEventLimit, heldBytes < Self.heldByteLimit else {
        return lobby.close(link, Goodbye(.left), as: .overrun, at: loop.now)
      }
      heldBytes += bytes.count
    }
    held.append(event)
  }

  private func answerWaiter(_ event: SessionEvent) {
    switch event {
    case .opened(let link, _): waiters.removeValue(forKey: link)?.resume(returning: nil)
    case .closed(let link, _, let reason, _):
      waiters.removeValue(forKey: link)?.resume(returning: reason)
    default: break
    }
  }

  private func rearm() {
    guard let next = lobby.nextTimeout, !isShutDown || !streams.isEmpty else {
      timer?.cancel()
      return
    }
    if timer == nil {
      timer = LoopTimer(on: loop, owner: self) { node in
        node.lobby.handleTimeout(at: node.loop.now)
        node.drain()
      }
    }
    if timer?.deadline != next { timer?.arm(at: next) }
  }

  private func settleIdle() {
    guard streams.isEmpty, leaving.isEmpty, !idleWaiters.isEmpty else { return }
    let waiters = idleWaiters
    idleWaiters = []
    for waiter in waiters { waiter.resume() }
  }
}
