import CaromCore
import CaromProtocol
import CaromTransport

// Sending from code on the loop, without waiting.
extension SessionNode {
  /// The capacity in bytes above which the scratch writer is released after use.
  private static let keptCapacity = 64 << 10

  /// Queues a message with its channel's delivery guarantee. All messages that are queued in one
  /// turn of the loop are sent together at the end of the turn. A message that has not been sent
  /// within `lifetime` is dropped, and an `expired` event reports it.
  public func send<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to connection: ConnectionID,
    lifetime: Duration? = nil
  ) throws(SendError) {
    encode(message)
    defer { releaseWriter() }
    let options = channel.options(lifetime: lifetime, at: loop.now)
    _ = try send(writer.bytes.span, on: channel.id, options, to: connection)
  }

  /// Queues a message like `send`, and returns the message's number. A `receipt` event with this
  /// number reports whether the message was delivered.
  public func sendForReceipt<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to connection: ConnectionID,
    lifetime: Duration? = nil
  ) throws(SendError) -> UInt64 {
    encode(message)
    defer { releaseWriter() }
    let options = channel.options(lifetime: lifetime, wantsReceipt: true, at: loop.now)
    let number = try send(writer.bytes.span, on: channel.id, options, to: connection)
    guard let number else { preconditionFailure("a message with a receipt has a number") }
    return number
  }

  /// Encodes a message once and queues it for the peers of all open connections, or only for those
  /// of `connections` if it is not nil. Returns the connections to which the message could not be
  /// sent, with the reasons.
  @discardableResult
  public func broadcast<Message>(
    _ message: Message, on channel: MessageChannel<Message>,
    to connections: [ConnectionID]? = nil, lifetime: Duration? = nil
  ) -> [ConnectionID: SendError] {
    encode(message)
    defer { releaseWriter() }
    let options = channel.options(lifetime: lifetime, at: loop.now)
    var failures: [ConnectionID: SendError] = [:]
    for connection in connections ?? lobby.connectionIDs
    where connections != nil || lobby.isOpen(connection) {
      do throws(SendError) {
        _ = try send(writer.bytes.span, on: channel.id, options, to: connection)
      } catch { failures[connection] = error }
    }
    return failures
  }

  func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, to connection: ConnectionID
  ) throws(SendError) -> UInt64? {
    defer { flushLater() }
    // The machine is given the time of the last drain. It gets the exact time when it fills
    // packets.
    return try lobby.send(bytes, on: channel, options, to: connection, at: turn.drainedAt)
  }

  private func encode<Message: PacketCodable>(_ message: Message) {
    writer.removeAll()
    message.encode(into: &writer)
  }

  private func releaseWriter() {
    if writer.count > Self.keptCapacity { writer = PacketWriter() }
  }

  /// Sends queued messages now instead of at the end of the loop's turn.
  public func flush() { drain() }

  func flushLater() {
    guard !turn.isDraining else {
      turn.needsAnotherRound = true
      return
    }
    guard let end = turn.end else { return makeEndOfTurnCallback() }
    end.schedule()
  }

  @inline(never) private func makeEndOfTurnCallback() {
    turn.end = EndOfTurnCallback(on: loop, owner: self) { node in node.drain() }
    turn.end?.schedule()
  }
}

// MARK: - Posting from any thread
/// A message that another thread has posted.
struct PostedMessage: Sendable {
  /// The maximum number of posted messages that the loop has not processed yet.
  static let limit = 4096
  /// The maximum total length, in bytes, of the posted messages that the loop has not processed
  /// yet.
  static let byteLimit = 4 << 20

  enum Target: Sendable {
    case one(ConnectionID)
    case all
  }

  let bytes: [UInt8]
  let channel: UInt8
  let options: SendOptions
  let target: Target
}

extension SessionNode {
  /// Queues a message from any thread, without waiting and without reporting whether the message
  /// arrives. Returns false if the message is too long or too many messages are queued for the
  /// loop.
  @discardableResult
  public nonisolated func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to connection: ConnectionID,
    lifetime: Duration? = nil
  ) -> Bool {
    post(message, on: channel, to: .one(connection), lifetime: lifetime)
  }

  nonisolated func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to target: PostedMessage.Target,
    lifetime: Duration?
  ) -> Bool {
    let bytes = message.encoded
    guard bytes.count <= ChannelLimits.length(of: channel.delivery) else { return false }
    let options = channel.options(lifetime: lifetime, at: loop.now)
    let message = PostedMessage(
      bytes: bytes, channel: channel.id, options: options, target: target)
    switch posts.append(message, bytes: bytes.count) {
    case .isFull: return false
    case .isFirst: loop.post { self.assumeIsolated { $0.sendPosts() } }
    case .isMore: break
    }
    return true
  }

  private func sendPosts() {
    for message in posts.removeAll() {
      switch message.target {
      case .one(let connection): send(message, to: connection)
      case .all:
        for connection in lobby.connectionIDs where lobby.isOpen(connection) {
          send(message, to: connection)
        }
      }
    }
  }

  private func send(_ message: PostedMessage, to connection: ConnectionID) {
    do throws(SendError) {
      _ = try send(message.bytes.span, on: message.channel, message.options, to: connection)
    } catch { postsRefused += 1 }
  }
}
