import CaromCore
import CaromProtocol
import CaromTransport

/// Spreads a node's events and messages over the queues that readers of any thread take from.
actor SessionHub: LoopActor {
  /// What a reader says of a message.
  enum Verdict {
    case taken
    /// The next ones are to stay where they are, until the reader has caught up.
    case takenAndFull
    /// It breaks the application's protocol.
    case malformed
  }

  typealias Reader = (Peer, borrowing Span<UInt8>) -> Verdict

  /// The most messages that wait on one channel for its reader.
  static let unreadLimit = 1024
  /// The most bytes of them, but for one message.
  static let unreadByteLimit = 256 << 10
  /// The most messages that may be lost which are kept for channels that nobody reads yet.
  static let earlyLimit = 256
  /// The most bytes of them.
  static let earlyByteLimit = 64 << 10

  nonisolated let loop: NetworkLoop
  nonisolated let node: SessionNode
  /// Where events go; nowhere from the end on: what nobody took of them names this hub.
  private var events: Inbox<PeerEvent>?
  /// Where readers take from.
  nonisolated let shelf: InboxRegistry

  private let admit: (@Sendable (PeerInfo) -> Admission)?
  private var order: [ConnectionID] = []
  private var peers: [ConnectionID: Peer] = [:]
  /// Peers that are gone, whose messages are not all read.
  private var departed: [Peer] = []
  private var readers: [UInt8: Reader] = [:]
  private var observers: [@Sendable (PeerEvent) -> Void] = []
  private var early = Deque<(channel: UInt8, peer: Peer, bytes: [UInt8])>()
  private var earlyBytes = 0
  var requests = RequestTable()
  var timer: LoopTimer?

  init(
    node: SessionNode, events: Inbox<PeerEvent>, shelf: InboxRegistry,
    admit: (@Sendable (PeerInfo) -> Admission)?
  ) {
    self.node = node
    self.events = events
    self.shelf = shelf
    loop = node.loop
    self.admit = admit
  }

  func begin() {
    node.assumeIsolated { node in
      for channel in 0..<UInt8(64) { node.pause(channel: channel) }
      node.setMessageHandler(owner: self) { hub, message in hub.take(message) }
      node.setHandler(owner: self) { hub, event in hub.handle(event) }
    }
  }

  /// Events and readers have been told of the end already. Peers refer to their hub, so that none
  /// may stay.
  func end() {
    events = nil
    readers = [:]
    observers = []
    (order, peers, departed) = ([], [:], [])
    (early, earlyBytes) = (Deque(), 0)
    failRequests(.disconnected(.closedLocally)) { _ in true }
  }

  func peer(_ link: ConnectionID) -> Peer? { peers[link] }

  var allPeers: [Peer] { order.compactMap { peers[$0] } }

  /// Sends a message to everybody of this loop, or to those of its `targets`.
  func broadcast<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to targets: [Peer]?,
    lifetime: Duration?
  ) -> [Peer: SendError] {
    let targets = targets ?? allPeers
    let links = targets.map(\.link)
    let failures = node.assumeIsolated {
      $0.broadcast(message, on: channel, to: links, lifetime: lifetime)
    }
    guard !failures.isEmpty else { return [:] }
    return targets.reduce(into: [:]) { $0[$1] = failures[$1.link] }
  }

  /// What reads a channel from now on; it is given first what came early.
  func read(_ channel: UInt8, _ reader: @escaping Reader) {
    readers[channel] = reader
    var isFull = false
    while let (_, peer, bytes) = early.removeFirst(where: { $0.channel == channel }) {
      earlyBytes -= bytes.count
      isFull = judge(reader(peer, bytes.span), peer) || isFull
    }
    if !isFull { resume(channel) }
  }

  func resume(_ channel: UInt8) {
    node.assumeIsolated { $0.resume(channel: channel) }
  }
}

// MARK: - What the node tells
extension SessionHub {
  private func handle(_ event: SessionEvent) {
    switch event {
    case .requested(let link, let info, _): answer(link, info)
    case .opened(let link, let info):
      let peer = Peer(info: info, link: link, hub: self)
      peers[link] = peer
      order.append(link)
      tell(.joined(peer))
    case .closed(let link, _, let reason, _): depart(link, reason)
    case .linkChanged(let link, let kind): tell(link) { .linkChanged($0, kind) }
    case .interrupted(let link): tell(link) { .interrupted($0) }
    case .resumed(let link): tell(link) { .resumed($0) }
    case .inputStopped(let link, let channel):
      tell(link) { .inputStopped($0, channel: channel) }
    case .inputResumed(let link, let channel):
      tell(link) { .inputResumed($0, channel: channel) }
    case .message, .measured, .writable, .expired, .receipt, .advertise, .connect: break
    }
  }

  private func tell(_ link: ConnectionID, _ event: (Peer) -> PeerEvent) {
    if let peer = peers[link] { tell(event(peer)) }
  }

  private func tell(_ event: PeerEvent) {
    for observer in observers { observer(event) }
    _ = events?.push(event)
  }

  func observe(_ observer: @escaping @Sendable (PeerEvent) -> Void) { observers.append(observer) }

  private func depart(_ link: ConnectionID, _ reason: DisconnectReason) {
    guard let peer = peers.removeValue(forKey: link) else { return }
    order.removeAll { $0 == link }
    departed.removeAll { peer in node.assumeIsolated { !$0.hasMessages(peer.link) } }
    departed.append(peer)
    failRequests(.disconnected(reason)) { $0 == link }
    tell(.left(peer, reason))
  }

  private func answer(_ link: ConnectionID, _ info: PeerInfo) {
    let admission = admit?(info) ?? .decline("this side does not host")
    node.assumeIsolated { node in
      switch admission {
      case .accept: node.admit(link)
      case .decline(let why): node.close(link, Goodbye(.declined, text: why), as: .declined(why))
      }
    }
  }

  private func take(_ message: borrowing SessionMessage) {
    let link = message.link
    guard let peer = peers[link] ?? departed.first(where: { $0.link == link }) else { return }
    let channel = message.channel
    guard let reader = readers[channel] else { return keep(message, of: peer) }
    if judge(reader(peer, message.bytes), peer) {
      node.assumeIsolated { $0.pause(channel: channel) }
    }
  }

  /// Whether the reader has no room any more.
  private func judge(_ verdict: Verdict, _ peer: Peer) -> Bool {
    switch verdict {
    case .taken: return false
    case .takenAndFull: return true
    case .malformed:
      node.assumeIsolated {
        $0.close(peer.link, Goodbye(.protocolViolation), as: .protocolViolation)
      }
      return false
    }
  }

  /// Reliable messages wait with their connection; the others would be lost.
  private func keep(_ message: borrowing SessionMessage, of peer: Peer) {
    early.append((message.channel, peer, Array(copying: message.bytes)))
    earlyBytes += message.bytes.count
    while early.count > Self.earlyLimit || earlyBytes > Self.earlyByteLimit,
      let oldest = early.popFirst()
    {
      earlyBytes -= oldest.bytes.count
    }
  }
}
