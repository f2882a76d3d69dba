import CaromCore
import CaromProtocol
import CaromTransport

/// A message that another thread has posted.
struct PostedMessage: Sendable {
  /// The maximum number of posted messages that the loop has not processed yet.
  static let limit = 4096
  /// The maximum total length, in bytes, of the posted messages that the loop has not processed
  /// yet.
  static let byteLimit = 4 << 20

  enum Target: Sendable {
    case one(ConnectionID)
    /// All open connections, except those that `post` reported as not accepting the message.
    case all(except: Set<ConnectionID>)
  }

  let bytes: [UInt8]
  let channel: UInt8
  let options: SendOptions
  let target: Target
}

/// What another thread has posted to a node.
enum Post: Sendable {
  case message(PostedMessage)
  case close(ConnectionID, Goodbye, as: DisconnectReason)
}

// Posting from any thread. A reliable message that was accepted waits for room in the send queue,
// so that it is lost only together with its connection.
extension SessionNode {
  /// Queues a message from any thread, without waiting and without reporting whether the message
  /// arrives. A reliable message waits until the send queue to the peer has room.
  ///
  /// Returns false if the message is not accepted: because it is too long or cannot be encoded,
  /// because too many messages are queued for the loop, or because too many posted messages wait
  /// for room in the send queue to the peer.
  public nonisolated func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to connection: ConnectionID,
    lifetime: Duration? = nil
  ) -> Bool {
    if channel.delivery.isReliable, fullPostQueues.withLock({ $0.contains(connection) }) {
      return false
    }
    return post(message, on: channel, to: .one(connection), lifetime: lifetime)
  }

  /// Queues a message for all peers. Returns false if the message is not accepted for every peer.
  nonisolated func postToAll<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration?
  ) -> Bool {
    let full = channel.delivery.isReliable ? fullPostQueues.withLock { $0 } : []
    let isAccepted = post(message, on: channel, to: .all(except: full), lifetime: lifetime)
    return isAccepted && full.isEmpty
  }

  private nonisolated func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to target: PostedMessage.Target,
    lifetime: Duration?
  ) -> Bool {
    guard let bytes = try? channel.encoded(message),
      bytes.count <= ChannelLimits.length(of: channel.delivery)
    else { return false }
    let options = channel.options(lifetime: lifetime, at: loop.now)
    let message = PostedMessage(
      bytes: bytes, channel: channel.id, options: options, target: target)
    return post(.message(message), bytes: bytes.count)
  }

  /// Closes a connection after the messages that were posted before, without waiting. Can be called
  /// from any thread.
  nonisolated func postClose(
    _ connection: ConnectionID, _ goodbye: Goodbye, as reason: DisconnectReason
  ) {
    _ = post(.close(connection, goodbye, as: reason), isBounded: false)
  }

  private nonisolated func post(_ post: Post, bytes: Int = 0, isBounded: Bool = true) -> Bool {
    switch posts.append(post, bytes: bytes, isBounded: isBounded) {
    case .isFull: return false
    case .isFirst: loop.post { self.assumeIsolated { $0.handlePosts() } }
    case .isMore: break
    }
    return true
  }

  /// Sends the messages and closes the connections that were posted so far.
  func handlePosts() {
    for post in posts.removeAll() {
      switch post {
      case .message(let message): send(message)
      case .close(let connection, let goodbye, let reason):
        close(connection, goodbye, as: reason)
      }
    }
  }

  private func send(_ message: PostedMessage) {
    switch message.target {
    case .one(let connection): send(message, to: connection)
    case .all(let exceptions):
      for connection in lobby.connectionIDs
      where isJoined(connection) && !exceptions.contains(connection) {
        send(message, to: connection)
      }
    }
  }

  private func send(_ message: PostedMessage, to connection: ConnectionID) {
    // A message must not overtake those that wait for room.
    if message.options.delivery.isReliable, waiters.sends[connection] != nil {
      return holdPost(message, to: connection)
    }
    do throws(SendError) {
      _ = try send(message.bytes.span, on: message.channel, message.options, to: connection)
    } catch {
      if case .queueFull = error { return holdPost(message, to: connection) }
      postsRefused += 1
    }
  }

  /// Lets a posted message wait for room in the send queue.
  private func holdPost(_ message: PostedMessage, to connection: ConnectionID) {
    let entry = BackpressureQueue.Entry(
      id: waiters.makeSendID(), bytes: message.bytes, channel: message.channel,
      options: message.options, continuation: nil)
    waiters.sends[connection, default: BackpressureQueue()].append(entry)
    if message.options.deadline != nil { rearm() }
    guard let queue = waiters.sends[connection], queue.isFullOfPosts else { return }
    fullPostQueues.withLock { _ = $0.insert(connection) }
  }

  /// Accepts posted messages to a peer again once those that wait take up no more than half of each
  /// limit.
  func acceptPostsIfRoom(to connection: ConnectionID) {
    if waiters.sends[connection]?.hasRoomForPosts == false { return }
    fullPostQueues.withLock { _ = $0.remove(connection) }
  }
}
