import CaromCore
import CaromProtocol
import CaromTransport

/// Distributes one node's events and messages to inboxes, from which readers on any thread take
/// them.
actor SessionHub: LoopActor {
  /// A reader's result for one message.
  enum Verdict {
    case accepted
    /// The reader's inbox is now full, so the channel must pause until the reader has caught up.
    case acceptedAndFull
    /// The message cannot be decoded, so the connection must be closed.
    case malformed
  }

  /// The reader of one channel.
  struct Reader {
    let receive: (Peer, borrowing Span<UInt8>) -> Verdict
    /// Moves the messages that `receive` has collected to the reader's inbox. Returns false if the
    /// channel must pause.
    var flush: () -> Bool = { true }
    /// Ends the reader's inbox. Elements that the inbox contains can still be read.
    var finish: () -> Void = {}
  }

  nonisolated let loop: NetworkLoop
  nonisolated let node: SessionNode
  /// The inbox of events. It is nil after the end of the session, because unread events refer to
  /// peers and thus to this hub.
  private var events: Inbox<PeerEvent>?
  /// The inboxes of the session's messages and requests.
  nonisolated let inboxes: InboxRegistry

  private let admit: (@Sendable (PeerInfo) -> Admission)?
  /// Receives the events that concern the search for an opponent, in matchmaking mode.
  private let directory: (@Sendable (SessionEvent) -> Void)?
  /// Decides which connections are peers; nil if all open ones are.
  private let gate: PeerGate?
  /// The gate's handlers; nil without a gate.
  var gateEvent: ((SessionEvent) -> Void)?
  var gateMessage: ((borrowing SessionMessage) -> Void)?
  /// The open connections that the gate has not made peers yet.
  var unjoined: [ConnectionID: Peer] = [:]
  /// The connected peers, in the order in which they joined.
  private var order: [ConnectionID] = []
  private var peers: [ConnectionID: Peer] = [:]
  /// The disconnected peers that may still have unread messages, and the peer that disconnected
  /// last.
  private var departed: [(peer: Peer, reason: DisconnectReason)] = []
  private var readers: [UInt8: Reader] = [:]
  /// The channels whose readers `attach` has set, by the key that was given to it.
  private var attached: [UInt8: ObjectIdentifier] = [:]
  /// Whether this is a client whose connection to its host has ended, so that no further message
  /// can arrive.
  private var hasLostHost = false
  /// The channels whose readers have received messages since their last `flush`.
  private var unflushed = ChannelMask()
  /// Receives the questions of players; nil if this side answers none.
  var takeQuestion: (@Sendable (PlayerQuestion) -> Void)?
  private var observers: [(key: ObjectIdentifier?, observe: @Sendable (PeerEvent) -> Void)] = []
  /// The unreliable messages of channels that have no reader yet.
  private var early = Deque<(channel: UInt8, peer: Peer, bytes: [UInt8])>()
  private var earlyBytes = 0
  var requests = RequestTable()
  var timer: LoopTimer?

  init(
    node: SessionNode, events: Inbox<PeerEvent>, inboxes: InboxRegistry,
    admit: (@Sendable (PeerInfo) -> Admission)?,
    directory: (@Sendable (SessionEvent) -> Void)? = nil, gate: PeerGate? = nil
  ) {
    self.node = node
    self.gate = gate
    self.directory = directory
    self.events = events
    self.inboxes = inboxes
    loop = node.loop
    self.admit = admit
  }

  func begin() {
    node.assumeIsolated { node in
      for channel in 0..<UInt8(64) { node.pause(channel: channel) }
    }
    if let gate { open(gate) }
    node.assumeIsolated { node in
      node.setBatchHandler(owner: self) { hub in
        hub.flushReaders()
        hub.endReaders()
      }
      node.setMessageHandler(owner: self) { hub, message in hub.receive(message) }
      node.setHandler(owner: self) { hub, event in hub.handle(event) }
    }
  }

  /// Releases all peers, events and pending requests, after the inboxes have ended. The hub must
  /// not keep any peer, because peers refer to the hub.
  func end() {
    events = nil
    (gateEvent, gateMessage, takeQuestion) = (nil, nil, nil)
    readers = [:]
    observers = []
    (order, peers, departed, unjoined) = ([], [:], [], [:])
    (early, earlyBytes) = (Deque(), 0)
    failRequests(.disconnected(.closedLocally)) { _ in true }
  }

  /// Returns the peer of a connection that is open or has just ended, or nil if there is no such
  /// connection.
  func peer(_ connection: ConnectionID) -> Peer? {
    peers[connection] ?? departed.first { $0.peer.connectionID == connection }?.peer
  }

  var allPeers: [Peer] { order.compactMap { peers[$0] } }

  /// Sets the reader of a channel. The reader first receives the messages that arrived before this
  /// call.
  func setReader(_ reader: Reader, of channel: UInt8) {
    readers[channel] = reader
    var isFull = false
    while let (_, peer, bytes) = early.removeFirst(where: {
      $0.channel == channel && unjoined[$0.peer.connectionID] == nil
    }) {
      earlyBytes -= bytes.count
      let verdict = reader.receive(peer, bytes.span)
      isFull = shouldPause(after: verdict, from: peer, on: channel) || isFull
    }
    if reader.flush(), !isFull { resume(channel) }
    endReaders()
  }

  /// Adds an observer, and then sets the readers of `channels`.
  func attach(
    _ key: ObjectIdentifier, to channels: [UInt8],
    _ observe: @escaping @Sendable (PeerEvent) -> Void,
    _ receive: @escaping @Sendable (Peer, UInt8, borrowing Span<UInt8>) -> Bool
  ) {
    addObserver(key, observe)
    for channel in channels {
      attached[channel] = key
      setReader(
        Reader { peer, bytes in receive(peer, channel, bytes) ? .accepted : .malformed },
        of: channel)
    }
  }

  /// Removes what `attach` has added with this key, unless another one has taken its place.
  func detach(_ key: ObjectIdentifier) {
    removeObserver(key)
    for channel in attached.keys.sorted() where attached[channel] == key {
      attached[channel] = nil
      readers[channel] = Reader { _, _ in .accepted }
    }
  }

  /// Closes the connection of a peer that sends a message on a channel that is not in `allowed` and
  /// has no reader.
  func rejectMessages(exceptOn allowed: ChannelMask) {
    for channel in 0..<UInt8(64) where !allowed.contains(channel) && readers[channel] == nil {
      setReader(Reader { _, _ in .malformed }, of: channel)
    }
  }

  func resume(_ channel: UInt8) {
    node.assumeIsolated { $0.resume(channel: channel) }
  }
}

// MARK: - Events of the node
extension SessionHub {
  private func makePeer(_ connection: ConnectionID, _ info: PeerInfo) -> Peer {
    var peer = Peer(info: info, connectionID: connection, hub: self)
    (peer.isHost, peer.protection) = node.assumeIsolated {
      (!$0.isIncoming(connection), $0.protection(of: connection))
    }
    return peer
  }

  private func handle(_ event: SessionEvent) {
    if gate != nil, case .opened(let connection, let info) = event {
      unjoined[connection] = makePeer(connection, info)
    }
    gateEvent?(event)
    switch event {
    case .requested(let connection, let info, _):
      if gate == nil { decide(connection, info) }
    case .asked(let connection, let info): takeQuestion(of: info, on: connection)
    case .opened(let connection, let info):
      guard gate == nil else { return }
      add(makePeer(connection, info))
    case .closed(let connection, let info, let reason, _):
      if let peer = unjoined.removeValue(forKey: connection) { discardEarly(from: peer) }
      remove(connection, reason)
      if let info, admit != nil, gate == nil, reason.isRefusal { emit(.refused(info, reason)) }
    case .linkChanged(let connection, let kind): emit(connection) { .linkChanged($0, kind) }
    case .interrupted(let connection): emit(connection) { .interrupted($0) }
    case .resumed(let connection): emit(connection) { .resumed($0) }
    case .inputStopped(let connection, let channel):
      emit(connection) { .inputStopped($0, channel: channel) }
    case .inputResumed(let connection, let channel):
      emit(connection) { .inputResumed($0, channel: channel) }
    case .wrongCode(let failure): emit(.wrongCode(failure))
    case .advertise, .connect: directory?(event)
    case .message, .measured, .writable, .expired, .receipt: break
    }
  }

  func add(_ peer: Peer) {
    peers[peer.connectionID] = peer
    order.append(peer.connectionID)
    inboxes.add(peer.connectionID)
    emit(.joined(peer))
  }

  private func emit(_ connection: ConnectionID, _ event: (Peer) -> PeerEvent) {
    if let peer = peers[connection] { emit(event(peer)) }
  }

  private func emit(_ event: PeerEvent) {
    flushReaders()  // a reader of the event can then read the messages before it
    for observer in observers { observer.observe(event) }
    // Strangers must not displace the events of peers.
    if case .refused = event, let events, events.count > events.limit / 2 { return }
    _ = events?.push(event)
  }

  func observe(_ observer: @escaping @Sendable (PeerEvent) -> Void) {
    observers.append((nil, observer))
  }

  /// Adds an observer that can be removed again. The observer first receives a `joined` event for
  /// each peer that is connected, and a `left` event for each peer in `expected` that is no longer
  /// connected.
  func addObserver(
    _ key: ObjectIdentifier, expecting expected: [Peer] = [],
    _ observer: @escaping @Sendable (PeerEvent) -> Void
  ) {
    for peer in allPeers { observer(.joined(peer)) }
    for peer in expected where peer.hub === self && peers[peer.connectionID] == nil {
      let reason = departed.first { $0.peer == peer }?.reason
      observer(.left(peer, reason ?? .connectionLost))
    }
    observers.append((key, observer))
  }

  func removeObserver(_ key: ObjectIdentifier) { observers.removeAll { $0.key == key } }

  func remove(_ connection: ConnectionID, _ reason: DisconnectReason) {
    guard let peer = peers.removeValue(forKey: connection) else { return }
    order.removeAll { $0 == connection }
    inboxes.remove(connection)
    departed.removeAll { left in
      node.assumeIsolated { !$0.hasMessages(left.peer.connectionID) }
    }
    departed.append((peer, reason))
    failRequests(.disconnected(reason)) { $0 == connection }
    emit(.left(peer, reason))
    guard admit == nil, peers.isEmpty else { return }
    hasLostHost = true
    events?.finish()
  }

  private func decide(_ connection: ConnectionID, _ info: PeerInfo) {
    let admission = admit?(info) ?? .decline("this side does not host")
    node.assumeIsolated { node in
      switch admission {
      case .accept: node.admit(connection)
      case .decline(let why):
        node.close(connection, Goodbye(.declined, text: why), as: .declined(why))
      }
    }
  }
}

extension DisconnectReason {
  /// Whether a host that closes a connection before it opens has refused the peer for this reason.
  fileprivate var isRefusal: Bool {
    switch self {
    case .full, .busy, .declined, .versionMismatch, .wrongApplication, .untrusted,
      .identityMismatch:
      true
    default: false
    }
  }
}

// MARK: - Messages of the node
extension SessionHub {
  private func receive(_ message: borrowing SessionMessage) {
    let id = message.connectionID
    let channel = message.channel
    if let gate, gate.channels.contains(channel) {
      gateMessage?(message)
      return
    }
    guard let peer = peer(id) else {
      if let peer = unjoined[id] { storeEarly(message, from: peer) }
      return
    }
    guard let reader = readers[channel] else { return storeEarly(message, from: peer) }
    unflushed.insert(channel)
    let verdict = reader.receive(peer, message.bytes)
    if shouldPause(after: verdict, from: peer, on: channel) { pause(channel) }
  }

  private func pause(_ channel: UInt8) { node.assumeIsolated { $0.pause(channel: channel) } }

  /// Makes the messages received in this turn readable. Called before they are acknowledged, so
  /// that a sender that learns that a message was delivered can rely on the message being readable.
  private func flushReaders() {
    guard !unflushed.isEmpty else { return }
    // In the order of the channels, so that simulated runs can be repeated.
    var channels = unflushed
    unflushed = ChannelMask()
    while let channel = channels.popFirst() {
      if let reader = readers[channel], !reader.flush() { pause(channel) }
    }
  }

  /// On a client whose connection to its host has ended, ends the readers that have received every
  /// message of their channels. A reader that is behind ends once it has caught up.
  private func endReaders() {
    guard hasLostHost else { return }
    for channel in readers.keys.sorted() {
      let isComplete = node.assumeIsolated { $0.hasDeliveredAll(on: channel) }
      if isComplete { readers[channel]?.finish() }
    }
  }

  /// Returns whether the channel must pause after `verdict`. If the message was malformed, closes
  /// the connection.
  private func shouldPause(after verdict: Verdict, from peer: Peer, on channel: UInt8) -> Bool {
    switch verdict {
    case .accepted: return false
    case .acceptedAndFull: return true
    case .malformed:
      reject(peer, channel)
      return false
    }
  }

  /// Delivers the messages that have arrived from a peer before it joined, on the channels that
  /// have a reader.
  func deliverEarly(from peer: Peer) {
    while let (channel, _, bytes) = early.removeFirst(where: {
      $0.peer == peer && readers[$0.channel] != nil
    }) {
      earlyBytes -= bytes.count
      guard let reader = readers[channel] else { continue }
      unflushed.insert(channel)
      let verdict = reader.receive(peer, bytes.span)
      if shouldPause(after: verdict, from: peer, on: channel) { pause(channel) }
    }
  }

  private func discardEarly(from peer: Peer) {
    early.removeAll { $0.peer == peer }
    earlyBytes = early.reduce(0) { $0 + $1.bytes.count }
  }

  /// Closes the connection of a peer that sent an invalid message on this channel.
  func reject(_ peer: Peer, _ channel: UInt8) {
    let connection = peer.connectionID
    guard peers[connection] != nil else { return }
    emit(.malformed(peer, channel: channel))
    node.assumeIsolated {
      $0.close(connection, Goodbye(.protocolViolation), as: .protocolViolation)
    }
  }

  /// Stores an unreliable message for a later reader. Reliable messages of a channel without a
  /// reader stay in their connection.
  private func storeEarly(_ message: borrowing SessionMessage, from peer: Peer) {
    early.append((message.channel, peer, Array(copying: message.bytes)))
    earlyBytes += message.bytes.count
    while early.count > UnreadLimits.earlyMessages || earlyBytes > UnreadLimits.earlyBytes,
      let oldest = early.popFirst()
    {
      earlyBytes -= oldest.bytes.count
    }
  }
}
