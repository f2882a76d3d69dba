import CaromCore
import CaromProtocol

/// A connected peer: a handle that can be copied and sent anywhere.
public struct Peer: Sendable {
  /// What the peer says of itself.
  public let info: PeerInfo
  /// The connection, for code that speaks to the node itself.
  public let link: ConnectionID
  let hub: SessionHub

  var node: SessionNode { hub.node }

  /// Who it is.
  public var id: PeerID { info.id }
  /// What people call it.
  public var name: String { info.name }
  /// Whether it only looks on.
  public var isSpectator: Bool { info.isSpectator }
}

extension Peer: Hashable {
  /// Equal where the connection is the same one.
  public static func == (a: Peer, b: Peer) -> Bool { a.hub === b.hub && a.link == b.link }

  /// Hashes the connection.
  public func hash(into hasher: inout Hasher) { hasher.combine(link) }
}

// MARK: - Sending
extension Peer {
  /// Sends a message, as its channel's `Delivery` says, as soon as the queue to the peer has room
  /// for it. A message whose `lifetime` passes meanwhile is `expired`.
  public func send<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) async throws(SendError) {
    try await node.sendWhenRoom(message, on: channel, to: link, lifetime: lifetime)
  }

  /// Sends a message if the queue to the peer has room for it now; otherwise it is `queueFull`.
  public func trySend<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) async throws(SendError) {
    try await node.send(message, on: channel, to: link, lifetime: lifetime)
  }

  /// Sends a message and returns when it is known what became of it: whether the peer's end has
  /// it. It may have been lost, late or replaced, as its channel's `Delivery` says.
  public func sendConfirmed<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) async throws(SendError) -> Bool {
    try await node.sendConfirmed(message, on: channel, to: link, lifetime: lifetime)
  }

  /// Hands a message over from any thread without waiting, and without a word of what becomes of
  /// it. `false` where it was not even taken: it is too long, or too much waits for the loop.
  @discardableResult
  public func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) -> Bool {
    node.post(message, on: channel, to: link, lifetime: lifetime)
  }

  /// Asks the peer something, and returns its answer.
  public func request<Question, Answer>(
    _ question: Question, over exchange: Exchange<Question, Answer>,
    within limit: Duration = .seconds(5)
  ) async throws(RequestError) -> Answer {
    try await hub.request(question, over: exchange, of: link, within: limit)
  }

  /// The newest message of the peer on a channel, each time that it is asked for: for a loop that
  /// draws the newest state. It reads the channel: nobody else can.
  public func latest<Message>(on channel: MessageChannel<Message>) -> LatestMessage<Message> {
    LatestMessage(peer: self, inbox: hub.shelf.inbox(for: channel))
  }
}

// MARK: - The connection
extension Peer {
  /// Ends the connection; the peer is told why.
  public func close(_ goodbye: Goodbye = Goodbye(.left)) async {
    await node.close(link, goodbye)
  }

  /// Makes the peer leave, and tells it why: at most 255 bytes.
  public func kick(_ why: String = "") async { await node.kick(link, why) }

  /// What is known of the way to the peer; `nil` once it is gone.
  public var roundTrip: RoundTrip? {
    get async { await node.roundTrip(to: link) }
  }

  /// The peer's clock minus this one's; `nil` before it was measured.
  public var clockOffset: Duration? {
    get async { await node.roundTrip(to: link)?.clockOffset }
  }

  /// What carries messages to the peer now.
  public var linkKind: LinkKind? {
    get async { await node.kind(of: link) }
  }

  /// What is counted: the way to the peer, and what went over it; `nil` once it is gone.
  public var statistics: PeerStatistics? {
    get async { await node.statistics(of: link) }
  }
}
