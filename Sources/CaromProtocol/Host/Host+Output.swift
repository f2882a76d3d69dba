import CaromCore

// Output to the shell: events, messages, stream bytes and datagrams.
extension Host {
  package var hasEvents: Bool { !events.isEmpty || !readable.isEmpty }

  package mutating func pollEvent() -> HostEvent? {
    events.popFirst() ?? readable.popFirst().map { .connection($0, .messages) }
  }

  /// Returns the connection of the next event, and removes the event, if it is a `messages` event.
  /// Returns nil and removes nothing if there is no event or the next event is of a different kind.
  /// This is faster than `pollEvent`.
  package mutating func pollReadable() -> ConnectionID? {
    events.isEmpty ? readable.popFirst() : nil
  }

  /// Queues an event for the owner.
  mutating func report(_ event: HostEvent) {
    while let id = readable.popFirst() { events.append(.connection(id, .messages)) }
    events.append(event)
  }

  /// Passes the next received message of a connection to `body`, without copying its bytes. Returns
  /// false if there is none. Reliable messages of the channels in `parking` stay in the connection.
  package mutating func pollMessage(
    on id: ConnectionID, parking: ChannelMask = ChannelMask(),
    _ body: (_ channel: UInt8, _ bytes: Span<UInt8>) -> Void
  ) -> Bool {
    guard let index = index(of: id) else { return pollUndelivered(id, parking, body) }
    let hasMessage = entries[index].connection.pollMessage(parking: parking, body)
    if hasMessage, entries[index].connection.channels.creditsDue > 0 { markReady(index) }
    return hasMessage
  }

  /// Parks a message that was added to `Arrivals`, because its reader has fallen behind since then.
  /// `bytes` are the message's bytes. The delivery of the message must need credit.
  package mutating func park(_ arrival: Arrivals.Message, _ bytes: Span<UInt8>) {
    guard let index = index(of: arrival.connectionID) else { return }
    entries[index].connection.channels.park(arrival, bytes)
  }

  /// Passes the next bytes for a connection's stream to `write`. Returns false if there is nothing
  /// to write now. `queued` is the number of bytes in the stream's send queue.
  package mutating func pollTransmit(
    on id: ConnectionID, queued: Int, at now: Instant, _ write: (Span<UInt8>) -> Void
  ) -> Bool {
    guard let index = index(of: id) else { return false }
    return entries[index].connection.pollStream(queued: queued, &scratch, at: now, write)
  }

  /// Stores a connection's next datagram in `datagram` and returns its route, or nil if no datagram
  /// can be sent now.
  package mutating func pollDatagram(on id: ConnectionID, at now: Instant) -> Route? {
    guard let index = index(of: id) else { return nil }
    return entries[index].pollDatagram(&scratch, at: now)
  }

  /// The datagram that the last call of `pollDatagram` stored. Send the datagram before any other
  /// call.
  package var datagram: Span<UInt8> {
    @_lifetime(borrow self) get { scratch.writer.span }
  }

  /// Swaps `buffer` with the buffer of decrypted packets. The buffer contains those messages in
  /// `Arrivals` that arrived in encrypted datagrams. Swap again once these messages are read.
  package mutating func swapOpened(_ buffer: inout [UInt8]) { swap(&buffer, &scratch.opened) }

  /// Appends a connection's next datagram to `buffer` and returns its route, or nil if no datagram
  /// can be sent now.
  package mutating func pollDatagram(
    on id: ConnectionID, into buffer: inout [UInt8], at now: Instant
  ) -> Route? {
    guard let route = pollDatagram(on: id, at: now) else { return nil }
    buffer.append(copying: datagram)
    return route
  }

  /// Removes and returns the action that the shell must perform on a connection's stream, or nil if
  /// there is none.
  package mutating func pollLinkAction(on id: ConnectionID) -> LinkAction? {
    guard let index = index(of: id) else { return nil }
    return entries[index].connection.pollLinkAction()
  }

  /// Whether any connection may have output.
  package var hasReady: Bool { !ready.isEmpty }

  /// Removes and returns the next connection that may have stream bytes, datagrams or a link
  /// action, or nil if there is none. Poll all three, then call `didFlush`.
  package mutating func pollReady() -> ConnectionID? {
    guard let id = ready.popFirst() else { return nil }
    if let index = index(of: id) { entries[index].isReady = false }
    return id
  }

  /// Handles the events that polling a connection's output produced, then removes the connection if
  /// it is closed, or updates its paths and deadline. Call after polling all output of a connection
  /// that `pollReady` returned.
  package mutating func didFlush(_ id: ConnectionID, at now: Instant) {
    guard let index = index(of: id) else { return }
    finishFlush(of: index, entries[index].timeoutIfUnchanged(), at: now)
  }

  /// Passes the datagrams of the ready connections to `send`, with their routes, up to the first
  /// connection that may have output for a stream. Returns that connection, or nil if there is
  /// none. Poll its stream and its datagrams, call `didFlush`, and call this method again.
  ///
  /// This does what `pollReady`, `pollDatagram` and `didFlush` do, but opens each slot only once.
  package mutating func transmitDatagrams(
    at now: Instant, _ send: (Span<UInt8>, Route) -> Void
  ) -> ConnectionID? {
    while let id = ready.popFirst() {
      guard let index = index(of: id) else { return id }
      switch entries[index].transmitDatagrams(&scratch, at: now, send) {
      case .needsStream: return id
      case .done(let timeout): finishFlush(of: index, timeout, at: now)
      }
    }
    return nil
  }

  /// Finishes polling the output of the connection at `index`. `timeout` is its next timeout, or
  /// nil if it may have events or have moved.
  @inline(__always)
  private mutating func finishFlush(of index: Int, _ timeout: Instant?, at now: Instant) {
    if let timeout { return deadlines.set(timeout, at: index) }
    let id = entries[index].id
    handleEvents(of: index, at: now)
    guard let index = self.index(of: id) else { return }
    if entries[index].connection.isClosed {
      remove(index, at: now)
    } else {
      updatePathsAndDeadline(of: index, at: now)
      // A path that was dropped because its key is used up has left its messages to the stream.
      markReadyIfNeeded(id)
    }
  }

  /// Handles the events of the connection at `index`. Processes the events that concern seats and
  /// keys, and passes all others to the owner.
  mutating func handleEvents(of index: Int, at now: Instant) {
    let id = entries[index].id
    if entries[index].connection.takeMessagesEvent() { readable.append(id) }
    guard entries[index].connection.hasEvents else { return }
    while let index = self.index(of: id), let event = entries[index].connection.pollEvent() {
      switch event {
      case .attempted(let isRight): handleAttempt(id, isRight: isRight, at: now)
      case .beganWithKnownKey: handshakeBudget.chargeStreamForKnownHost(at: now)
      case .presented: handleTicket(on: id, at: now)
      case .requested(let info):
        acceptStranger(index)
        handleRequest(index, info, at: now)
      case .joining:
        acceptStranger(index)
        handleJoin(index, at: now)
      case .opened(let info):
        entries[index].peer = info
        entries[index].wasOpen = true
        report(.connection(id, event))
        if entries[index].isIncoming, entries[index].connection.local === side,
          let tag = makeRefusalTag(of: entries[index].connection.key)
        {
          entries[index].connection.send(.refusalTag(tag), at: now)
        }
        issueToken(forConnectionAt: index, at: now)
      case .closed(let reason):
        let entry = entries[index]
        report(.closed(id, entry.peer, reason, wasOpen: entry.wasOpen))
        if let peer = entry.peer?.id { releaseSeat(of: peer, id) }
      case .messages, .measured, .channel, .linkChanged, .interrupted, .resumed, .reconnect,
        .invited:
        report(.connection(id, event))
      }
    }
  }

  /// Handles a request for a seat that arrived on a stream or a datagram path. If another
  /// connection has the same key, moves the stream to that connection instead.
  private mutating func handleRequest(_ index: Int, _ info: PeerInfo, at now: Instant) {
    if hasEnded(entries[index].connection.key) || hasLostTicket(index) {
      return closeAsForgotten(index, at: now)
    }
    if let other = ownerOfKey(at: index) { return merge(index, of: info, into: other, at: now) }
    requestSeat(for: info, on: entries[index].id, at: now)
  }

  /// Handles a stream that wants to join an open connection: moves it to the connection that has
  /// the same key. If this host has no such connection, it asks the group's directory or, if it is
  /// not in a group, closes the stream.
  private mutating func handleJoin(_ index: Int, at now: Instant) {
    if !hasEnded(entries[index].connection.key), let other = ownerOfKey(at: index) {
      return merge(index, of: nil, into: other, at: now)
    }
    if member == nil {
      closeAsForgotten(index, at: now)
    } else {
      directoryRequests.append(.join(entries[index].id))
    }
  }
}

extension Arrivals.Message {
  package var connectionID: ConnectionID { ConnectionID(connection) }
}
