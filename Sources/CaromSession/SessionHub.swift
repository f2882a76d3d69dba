import CaromCore
import CaromProtocol
import CaromTransport

/// Spreads a node's events over the streams that the async face hands out.
actor SessionHub: LoopActor {
  nonisolated let loop: EventLoop
  private let node: SessionNode
  private let admit: (@Sendable (PeerInfo) -> Admission)?
  private let events: AsyncStream<PeerEvent>.Continuation
  private var peers: [(link: LinkID, peer: Peer)] = []
  private var readers: [UInt16: (Peer, [UInt8]) -> Bool] = [:]
  private var finishers: [() -> Void] = []
  private var unread: [(channel: UInt16, peer: Peer, bytes: [UInt8])] = []
  private var unreadBytes = 0
  private var hasEnded = false

  /// The most messages that wait on one channel for its reader; then the sender is closed with
  /// `overrun`, since it would cost memory without end.
  static let unreadLimit = 4096
  /// The most bytes of messages that wait for channels without a reader.
  static let unreadByteLimit = 4 << 20

  init(
    node: SessionNode, admit: (@Sendable (PeerInfo) -> Admission)?,
    events: AsyncStream<PeerEvent>.Continuation
  ) {
    self.node = node
    loop = node.loop
    self.admit = admit
    self.events = events
  }

  func begin() async {
    await node.setHandler(owner: self) { hub, event in hub.handle(event) }
  }

  func end() {
    hasEnded = true
    events.finish()
    for finish in finishers { finish() }
    finishers = []
    readers = [:]
    unread = []
    unreadBytes = 0
  }

  func peer(_ link: LinkID) -> Peer? { peers.first { $0.link == link }?.peer }

  var allPeers: [Peer] { peers.map(\.peer) }

  func messages<Message>(on channel: Channel<Message>) -> AsyncStream<Received<Message>> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Received<Message>.self, bufferingPolicy: .bufferingOldest(Self.unreadLimit))
    guard !hasEnded else {
      continuation.finish()
      return stream
    }
    precondition(readers[channel.id] == nil, "channel \(channel.id) has a reader already")
    readers[channel.id] = { peer, bytes in
      guard let message = try? Message(decoding: bytes.span) else { return false }
      if case .dropped = continuation.yield(Received(peer: peer, message: message)) {
        return channel.delivery == .unreliableSequenced
      }
      return true
    }
    finishers.append { continuation.finish() }
    let waiting = unread.filter { $0.channel == channel.id }
    unread.removeAll { $0.channel == channel.id }
    unreadBytes -= waiting.reduce(0) { $0 + $1.bytes.count }
    for entry in waiting { deliver(entry.bytes, from: entry.peer, on: channel.id) }
    return stream
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .requested(let link, let info, _): answer(link, info)
    case .opened(let link, let info):
      let peer = Peer(info: info, link: link, node: node)
      peers.append((link, peer))
      events.yield(.joined(peer))
    case .closed(let link, _, let reason, true):
      guard let index = peers.firstIndex(where: { $0.link == link }) else { return }
      events.yield(.left(peers.remove(at: index).peer, reason))
    case .message(let link, let channel, let bytes):
      if let peer = peer(link) { deliver(bytes, from: peer, on: channel) }
    case .closed, .measured, .writable, .advertise, .connect: break
    }
  }

  private func answer(_ link: LinkID, _ info: PeerInfo) {
    let admission = admit?(info) ?? .decline("this side does not host")
    node.assumeIsolated { node in
      switch admission {
      case .accept: node.admit(link)
      case .decline(let why): node.close(link, Goodbye(.declined, text: why), as: .declined(why))
      }
    }
  }

  private func deliver(_ bytes: [UInt8], from peer: Peer, on channel: UInt16) {
    if let read = readers[channel] {
      // A message that does not decode breaks the application's protocol; one that finds the
      // reader's queue full has come too fast.
      if !read(peer, bytes) { end(peer, .overrun) }
    } else if unread.count < Self.unreadLimit, unreadBytes < Self.unreadByteLimit {
      unread.append((channel, peer, bytes))
      unreadBytes += bytes.count
    } else {
      end(peer, .overrun)
    }
  }

  private func end(_ peer: Peer, _ reason: DisconnectReason) {
    node.assumeIsolated { $0.close(peer.link, Goodbye(.protocolViolation), as: reason) }
  }
}
