import CaromCore
import CaromProtocol
import CaromTransport

// MARK: - Interface of the owner
extension SessionNode {
  /// Sets the handler for events to `handle`, which first receives the events held so far. `handle`
  /// runs isolated to `owner`, an actor on the same loop. The node holds `owner` weakly.
  public func setHandler<Owner: Actor>(
    owner: Owner, _ handle: @escaping @Sendable (isolated Owner, SessionEvent) -> Void
  ) {
    feed.handler = ActorCallbacks(owner, on: loop).bind(handle)
    emitHeld()
    deliverUnread()
    drain()
  }

  /// Sets a handler that receives messages in place of `message` events. The bytes of a message are
  /// valid only during the call, so nothing is allocated for the message. `handle` runs
  /// isolated to `owner`, an actor on the same loop. The node holds `owner` weakly.
  public func setMessageHandler<Owner: Actor>(
    owner: Owner,
    _ handle: @escaping @Sendable (isolated Owner, borrowing SessionMessage) -> Void
  ) {
    feed.messageHandler = ActorCallbacks(owner, on: loop).bindBorrowing(handle)
    deliverUnread()
    drain()
  }

  /// Sets a handler that is called after each batch of messages and events, before anything that
  /// acknowledges them is sent. The node holds `owner` weakly.
  func setBatchHandler<Owner: Actor>(
    owner: Owner, _ handle: @escaping @Sendable (isolated Owner) -> Void
  ) {
    feed.batchHandler = ActorCallbacks(owner, on: loop).bind(handle)
  }

  /// Leaves the messages of a channel in their connections until `resume` is called, so that the
  /// senders run out of credit and have to wait. Messages that need no credit, those of unreliable
  /// and sequenced channels, are still delivered.
  public func pause(channel: UInt8) { feed.paused.insert(channel) }

  /// Resumes the delivery of a paused channel's messages, starting with those that stayed in the
  /// connections.
  public func resume(channel: UInt8) {
    guard feed.paused.contains(channel) else { return }
    feed.paused.remove(channel)
    feed.isUnreadDue = true
    drain()
  }

  /// Returns the next event or message, or nil if there is none now. The events and messages of
  /// each peer are in order. Intended for an owner that polls instead of setting a handler.
  public func poll() -> SessionEvent? {
    precondition(feed.handler == nil, "a node with a handler reports all events to the handler")
    if let connection = feed.held.first?.endedConnection,
      let message = nextMessage(of: connection)
    {
      return message
    }
    if let event = feed.held.popFirst() {
      if let connection = event.endedConnection { discardMessages(of: connection) }
      return event
    }
    for _ in feed.unread.indices {
      guard let connection = feed.unread.popFirst() else { break }
      let message = nextMessage(of: connection)
      // The next peer's turn. Messages of paused channels are left until `resume`.
      if lobby.hasMessages(of: connection) { feed.unread.append(connection) }
      guard let message else { continue }
      flushLater()  // the sender may be due more credit
      return message
    }
    return nil
  }

  /// Returns whether every message that has arrived on a channel has been delivered.
  func hasDeliveredAll(on channel: UInt8) -> Bool {
    !feed.isUnreadDue && !feed.paused.contains(channel)
  }

  /// Returns whether a connection has unread messages.
  func hasMessages(_ connection: ConnectionID) -> Bool { lobby.hasMessages(of: connection) }

  private func discardMessages(of connection: ConnectionID) {
    feed.unread.removeAll { $0 == connection }
    lobby.host.discardUndelivered(connection)
  }

  private func nextMessage(of connection: ConnectionID) -> SessionEvent? {
    var result: SessionEvent?
    let paused = feed.pausedChannels(of: connection)
    _ = lobby.host.pollMessage(on: connection, parking: paused) { channel, bytes in
      result = .message(connection, channel: channel, bytes: Array(copying: bytes))
    }
    if case .message(_, let channel, _)? = result { recordInput(connection, channel) }
    return result
  }
}

// MARK: - Joining
extension SessionNode {
  /// From now on, an open connection is not one of the session's until `join` is called for it:
  /// messages to all peers do not go there, and messages on `channels` stay in the connection if
  /// they need credit.
  func holdConnections(channels: ChannelMask) { feed.channelsBeforeJoining = channels }

  /// Makes an open connection one of the session's, and delivers the messages that have stayed in
  /// it.
  func join(_ connection: ConnectionID) {
    guard feed.unjoined.remove(connection) != nil else { return }
    feed.isUnreadDue = true
    flushLater()
  }

  /// Returns whether messages to all peers go to this connection.
  func isJoined(_ connection: ConnectionID) -> Bool {
    lobby.isOpen(connection) && (feed.unjoined.isEmpty || !feed.unjoined.contains(connection))
  }
}

// MARK: - Events
extension SessionNode {
  func emitEvents() {
    emitHeld()
    if feed.isUnreadDue { deliverUnread() }
    while true {
      deliverReadable()
      guard let event = lobby.pollEvent() else { break }
      switch event {
      case .cancelConnect(let connection): endAttempt(connection, .cancelled)
      case .host(.adopted(let connection, let owner)): move(streamOf: connection, to: owner)
      case .host(.connection(let connection, .reconnect)): reconnect(connection)
      case .host(.connection(_, .invited(let token))): store(token)
      case .host(.connection(let connection, .messages)): deliverMessages(of: connection)
      default: if let event = SessionEvent(event) { handle(event) }
      }
    }
    feed.batchHandler?()
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .opened(let connection, _):
      inputs.add(connection)
      if feed.channelsBeforeJoining != nil { feed.unjoined.insert(connection) }
      dials[connection]?.failure = nil
      dials[connection]?.resume(with: nil)
    case .writable(let connection):
      fullQueues.remove(connection)
      sendWaiting(on: connection)
    case .receipt(let connection, _, let message, let isDelivered):
      let key = ReceiptKey(connection: connection, message: message)
      if isDelivered, let report = waiters.takeReport(key) {
        report()
      } else {
        waiters.resolve(key, isDelivered)
      }
    case .closed(let connection, _, let reason, _): end(connection, reason)
    default: break
    }
    if isShutDown, event.isMatching { return }
    emit(event)
  }

  func end(_ connection: ConnectionID, _ reason: DisconnectReason) {
    if var dial = dials.removeValue(forKey: connection) {
      // What the host says counts more than the failure of one link.
      let failure = reason.isSaidByPeer ? nil : dial.failure
      dial.resume(with: failure.map { .transport($0) } ?? .refused(reason))
      dial.cancelTask()
    }
    for channel in inputs.remove(connection) { emit(.inputStopped(connection, channel: channel)) }
    postsRefused += UInt64(waiters.sends[connection]?.postCount ?? 0)
    waiters.failAll(of: connection)
    acceptPostsIfRoom(to: connection)
    fullQueues.remove(connection)
    feed.unjoined.remove(connection)
  }

  func emit(_ event: SessionEvent) {
    if let handler = feed.handler { return handler(event) }
    guard let ended = feed.hold(event)?.endedConnection else { return }
    // The messages of a connection are read up to its `closed` event, which is lost.
    discardMessages(of: ended)
  }

  /// Passes the held events to the handler, if there is one.
  private func emitHeld() {
    guard let handler = feed.handler else { return }
    while let event = feed.held.popFirst() {
      if let connection = event.endedConnection { deliverMessages(of: connection) }
      if !isShutDown || !event.isMatching { handler(event) }
    }
  }
}

// MARK: - Messages
extension SessionNode {
  /// Delivers messages, one connection after another, until the next event is of a different kind.
  // Inlined into `emitEvents`, its access to `lobby` would be merged with the one there by the
  // optimizer of Swift 6.3, and would still be open while messages are delivered: a release build
  // then ends with an exclusivity violation.
  @inline(never)
  private func deliverReadable() {
    while let connection = lobby.pollReadable() { deliverMessages(of: connection) }
  }

  /// Delivers the messages of a connection, except messages of paused channels.
  private func deliverMessages(of connection: ConnectionID) {
    if feed.hasHandler {
      while deliverMessage(of: connection) {}
      // Without paused channels, no message is left.
      if feed.pausedChannels(of: connection).isEmpty { return }
    }
    if lobby.hasMessages(of: connection), !feed.unread.contains(connection) {
      feed.unread.append(connection)
    }
  }

  /// Delivers unread messages in rounds, one message of each peer in every round.
  private func deliverUnread() {
    feed.isUnreadDue = false
    guard feed.hasHandler else { return }
    var connections = Array(feed.unread)
    while !connections.isEmpty { connections.removeAll { !deliverMessage(of: $0) } }
    feed.unread.removeAll { !lobby.hasMessages(of: $0) }
  }

  /// Delivers a message whose bytes are still in the received datagram. A message that needs credit
  /// is instead stored in its connection if its channel is paused, or if any channel has just been
  /// resumed, because the messages stored earlier must be delivered first.
  func deliver(_ message: Arrivals.Message, _ bytes: Span<UInt8>) {
    let connection = message.connectionID
    if message.delivery.needsCredit,
      feed.isUnreadDue || feed.pausedChannels(of: connection).contains(message.channel)
    {
      lobby.host.park(message, bytes)
      if !feed.unread.contains(connection) { feed.unread.append(connection) }
      return
    }
    recordInput(connection, message.channel)
    if let handle = feed.messageHandler {
      handle(SessionMessage(connectionID: connection, channel: message.channel, bytes: bytes))
    } else {
      emit(.message(connection, channel: message.channel, bytes: Array(copying: bytes)))
    }
  }

  private func deliverMessage(of connection: ConnectionID) -> Bool {
    guard let messageHandler = feed.messageHandler else {
      guard let handler = feed.handler, let message = nextMessage(of: connection) else {
        return false
      }
      handler(message)
      return true
    }
    incoming.removeAll(keepingCapacity: true)
    var number: UInt8 = 0
    let paused = feed.pausedChannels(of: connection)
    let hasMessage = lobby.host.pollMessage(on: connection, parking: paused) {
      channel, bytes in
      number = channel
      incoming.append(copying: bytes)
    }
    guard hasMessage else { return false }
    recordInput(connection, number)
    let bytes = incoming
    messageHandler(SessionMessage(connectionID: connection, channel: number, bytes: bytes.span))
    return true
  }
}
