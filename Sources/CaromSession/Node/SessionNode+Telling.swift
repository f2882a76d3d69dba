import CaromCore
import CaromProtocol
import CaromTransport

// What the owner is told: by a handler at once, or when it asks.
extension SessionNode {
  /// Events go to `handle` from now on, inside `owner`, an actor on the same loop, held weakly.
  /// Those that came before are told first.
  public func setHandler<Owner: Actor>(
    owner: Owner, _ handle: @escaping @Sendable (isolated Owner, SessionEvent) -> Void
  ) {
    handler = ActorCallbacks(owner, on: loop).bind(handle)
    takeUnread()
    drain()
  }

  /// Messages go to `handle` from now on, where they lie, instead of being events: nothing is
  /// allocated for them. Inside `owner`, an actor on the same loop, held weakly.
  public func setMessageHandler<Owner: Actor>(
    owner: Owner,
    _ handle: @escaping @Sendable (isolated Owner, borrowing SessionMessage) -> Void
  ) {
    messageHandler = ActorCallbacks(owner, on: loop).bindBorrowing(handle)
    takeUnread()
    drain()
  }

  /// Leaves reliable messages of a channel with their connections until `resume`: who sends them
  /// has to wait. Those of other deliveries come all the same; there are never many.
  public func pause(channel: UInt8) { parked.insert(channel) }

  /// Takes messages of a channel again, and first those that were left.
  public func resume(channel: UInt8) {
    guard parked.contains(channel) else { return }
    parked.remove(channel)
    takeUnread()
    drain()
  }

  /// What happened next, for an owner that asks instead of being told: events and messages in
  /// their order for each peer; `nil` when there is nothing now. Only while there is no handler.
  public func poll() -> SessionEvent? {
    precondition(handler == nil, "a node with a handler tells everything to it")
    if let link = held.first?.endedLink, let message = nextMessage(of: link) { return message }
    if let event = held.popFirst() {
      if let link = event.endedLink { lobby.discardMessages(of: link) }
      return event
    }
    while let link = unread.first {
      if let message = nextMessage(of: link) {
        unread.popFirst()
        unread.append(link)  // the next peer's turn
        flushLater()  // a credit may be due
        return message
      }
      unread.popFirst()
    }
    return nil
  }

  /// Whether messages of a link wait to be taken.
  func hasMessages(_ link: ConnectionID) -> Bool { lobby.hasMessages(of: link) }

  private func nextMessage(of link: ConnectionID) -> SessionEvent? {
    var result: SessionEvent?
    _ = lobby.pollMessage(on: link, parking: parked) { channel, bytes in
      result = .message(link, channel: channel, bytes: Array(copying: bytes))
    }
    if case .message(_, let channel, _)? = result { noteInput(link, channel) }
    return result
  }
}

// MARK: - Events
extension SessionNode {
  func tellEvents() {
    tellHeld()
    while let event = lobby.pollEvent() {
      switch event {
      case .cancelConnect(let link): connecting.removeValue(forKey: link)?.cancel()
      case .host(.adopted(let link, let owner)): move(streamOf: link, to: owner)
      case .host(.connection(let link, .reconnect)): reconnect(link)
      case .host(.connection(_, .invited(let token))): keep(token)
      case .host(.connection(let link, .messages)): tellMessages(of: link)
      default: if let event = SessionEvent(event) { take(event) }
      }
    }
  }

  private func take(_ event: SessionEvent) {
    switch event {
    case .opened(let link, _):
      failures[link] = nil
      waiters.removeValue(forKey: link)?.resume(returning: nil)
    case .writable(let link): serveRoom(link)
    case .receipt(let link, _, let message, let isDelivered):
      settle(ReceiptName(link: link, message: message), isDelivered)
    case .closed(let link, _, let reason, _): end(link, reason)
    default: break
    }
    if isShutDown, event.isMatching { return }
    tell(event)
  }

  private func end(_ link: ConnectionID, _ reason: DisconnectReason) {
    let failure = failures.removeValue(forKey: link).map { SessionError.transport($0) }
    waiters.removeValue(forKey: link)?.resume(returning: failure ?? .refused(reason))
    for channel in inputs.forget(link) { tell(.inputStopped(link, channel: channel)) }
    endWaits(of: link)
    forget(link)
  }

  func tell(_ event: SessionEvent) {
    if let handler { return handler(event) }
    if held.count >= Self.heldEventLimit {
      if case .measured = event { return }
      _ = held.popFirst()
    }
    held.append(event)
  }

  /// What came before there was a handler.
  private func tellHeld() {
    guard let handler else { return }
    while let event = held.popFirst() {
      if let link = event.endedLink { tellMessages(of: link) }
      if !isShutDown || !event.isMatching { handler(event) }
    }
  }
}

// MARK: - Messages
extension SessionNode {
  /// Tells the messages of a link, as far as they are taken.
  func tellMessages(of link: ConnectionID) {
    if handler != nil || messageHandler != nil {
      while tellMessage(of: link) {}
      // Without channels that stay where they are nothing was left.
      if parked.isEmpty { return }
    }
    if lobby.hasMessages(of: link), !unread.contains(link) { unread.append(link) }
  }

  /// Tells what was left, the peers in turn.
  func takeUnread() {
    guard handler != nil || messageHandler != nil else { return }
    var links = unread
    while !links.isEmpty { links.removeAll { !tellMessage(of: $0) } }
    unread.removeAll { !lobby.hasMessages(of: $0) }
  }

  private func tellMessage(of link: ConnectionID) -> Bool {
    guard let messageHandler else {
      guard let handler, let message = nextMessage(of: link) else { return false }
      handler(message)
      return true
    }
    incoming.removeAll(keepingCapacity: true)
    var number: UInt8 = 0
    let isTaken = lobby.pollMessage(on: link, parking: parked) { channel, bytes in
      number = channel
      incoming.append(copying: bytes)
    }
    guard isTaken else { return false }
    noteInput(link, number)
    let bytes = incoming
    messageHandler(SessionMessage(link: link, channel: number, bytes: bytes.span))
    return true
  }
}
