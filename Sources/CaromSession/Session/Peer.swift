import CaromCore
import CaromProtocol

/// A handle to a connected peer, which can be copied and sent to any task.
public struct Peer: Sendable {
  /// The peer's description of itself, received when it connected.
  public let info: PeerInfo
  /// The id of the connection to the peer, for calls to `SessionNode`.
  public let connectionID: ConnectionID
  let hub: SessionHub
  /// Whether the peer hosts the session, so that this side is its client.
  public internal(set) var isHost = false
  /// How the connection to the peer was protected when it opened; `security` also has the peer's
  /// key.
  public internal(set) var protection = LinkProtection.none

  var node: SessionNode { hub.node }

  /// When something came from the peer last; nil if the connection has ended. Must be called on
  /// the loop.
  package var lastReceived: Instant? {
    node.assumeIsolated { $0.lastReceived(from: connectionID) }
  }

  /// The peer's id.
  public var id: PeerID { info.id }
  /// The peer's display name.
  public var name: String { info.name }
  /// Whether the peer is a spectator rather than a player.
  public var isSpectator: Bool { info.isSpectator }
}

extension Peer: Hashable {
  /// Returns whether two handles refer to the same connection.
  public static func == (a: Peer, b: Peer) -> Bool {
    a.hub === b.hub && a.connectionID == b.connectionID
  }

  /// Hashes the connection's id.
  public func hash(into hasher: inout Hasher) { hasher.combine(connectionID) }
}

extension Peer: CustomStringConvertible {
  /// The peer's name and the beginning of its id, for logs: "Maya (66e55068)".
  public var description: String { info.text }
}

extension PeerInfo {
  /// The name and the beginning of the id, for logs.
  var text: String { "\(name.isEmpty ? "unnamed" : name) (\(id.description.prefix(8)))" }
}

// MARK: - Sending
extension Peer {
  /// Sends a message with its channel's delivery guarantee, after waiting until the send queue to
  /// the peer has room. Throws `expired` if `lifetime` passes first.
  public func send<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) async throws(SendError) {
    try await node.sendWhenRoom(message, on: channel, to: connectionID, lifetime: lifetime)
  }

  /// Sends a message without waiting. Throws `queueFull` if the send queue to the peer has no room
  /// for the message.
  public func trySend<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) async throws(SendError) {
    try await node.send(message, on: channel, to: connectionID, lifetime: lifetime)
  }

  /// Sends a message and waits for its delivery receipt. Returns true if the peer's connection has
  /// received the message. Returns false if the message was lost, arrived too late or was replaced
  /// by a newer one, as the channel's `Delivery` allows, or if the connection ended.
  public func sendConfirmed<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) async throws(SendError) -> Bool {
    try await node.sendConfirmed(message, on: channel, to: connectionID, lifetime: lifetime)
  }

  /// Queues a message from any thread, without waiting and without reporting whether the message
  /// arrives. A reliable message waits until the send queue to the peer has room; it is lost only
  /// if the connection ends.
  ///
  /// Returns false if the message is not accepted: because it is too long or cannot be encoded,
  /// because too many messages are queued for the loop, or because too many posted messages wait
  /// for room in the send queue to the peer.
  public func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) -> Bool {
    node.post(message, on: channel, to: connectionID, lifetime: lifetime)
  }

  /// Sends a request to the peer and returns its response.
  public func request<Request, Response>(
    _ request: Request, over exchange: Exchange<Request, Response>,
    within limit: Duration = .seconds(5)
  ) async throws(RequestError) -> Response {
    try await hub.request(request, over: exchange, of: connectionID, within: limit)
  }

  /// Returns a view of the newest message from the peer on a channel, for a game loop that draws
  /// only the newest state. Use one view per peer and channel, and do not also read the channel
  /// with `Session.messages(on:)` or `Session.takeMessages(on:)`.
  ///
  /// The channel must be sequenced or unreliable: on the others every message counts, and the view
  /// would discard all but the newest.
  public func latest<Message>(on channel: MessageChannel<Message>) -> LatestMessage<Message> {
    precondition(
      !channel.delivery.keepsAllMessages,
      "every message of a \(channel.delivery) channel counts: read it with messages(on:)")
    return LatestMessage(peer: self, inbox: hub.inboxes.inbox(for: channel))
  }
}

// MARK: - The connection
extension Peer {
  /// Closes the connection and sends `goodbye` to the peer.
  public func close(_ goodbye: Goodbye = Goodbye(.left)) async {
    await node.close(connectionID, goodbye)
  }

  /// Closes the connection and sends `goodbye` to the peer, after the messages that were posted
  /// before, without waiting. Posted messages that still wait for room in the send queue are lost.
  /// This side's events report `reason`. Can be called from any thread.
  public func disconnect(
    _ goodbye: Goodbye = Goodbye(.left), as reason: DisconnectReason = .closedLocally
  ) { node.postClose(connectionID, goodbye, as: reason) }

  /// Disconnects the peer, with the reason `protocolViolation`, because it sent an invalid message
  /// on this channel. Can be called from any thread.
  func reject(_ channel: UInt8) {
    hub.loop.post { hub.assumeIsolated { $0.reject(self, channel) } }
  }

  /// Disconnects the peer and sends it `reason`. A reason longer than 255 bytes of UTF-8 is
  /// omitted.
  public func kick(_ reason: String = "") async { await node.kick(connectionID, reason) }

  /// The measured round-trip time and clock offset of the peer, or nil if the connection has ended.
  public var roundTrip: RoundTrip? {
    get async { await node.roundTrip(to: connectionID) }
  }

  /// The peer's clock minus this side's clock, or nil if the offset has not been measured yet.
  public var clockOffset: Duration? {
    get async { await node.roundTrip(to: connectionID)?.clockOffset }
  }

  /// The kind of link that carries messages to the peer now, or nil if no link works.
  public var linkKind: LinkKind? {
    get async { await node.kind(of: connectionID) }
  }

  /// The counters and measurements of the connection to the peer, or nil if the connection has
  /// ended.
  public var statistics: PeerStatistics? {
    get async { await node.statistics(of: connectionID) }
  }

  /// How the connection to the peer is encrypted; nil if it is in plaintext or has ended.
  public var security: PeerSecurity? {
    get async { await node.security(of: connectionID) }
  }
}
