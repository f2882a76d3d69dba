import CaromCore

extension Host {
  /// A connection and what the host keeps about it.
  struct Entry {
    let id: ConnectionID
    /// The value of `Connection.findMigrations()` at the last update of `endpoints`.
    var migrations: UInt32 = 0
    /// Whether the connection is queued in `ready`.
    var isReady = false
    var connection: Connection
    let isIncoming: Bool
    /// Whether this host accepted the connection and its peer has not requested anything yet.
    var isStranger = false
    var wasOpen = false
    var peer: PeerInfo?
    /// The peer's endpoints that `paths` maps to this connection.
    var endpoints: [Endpoint] = []
    /// Whether the owner has discarded the connection's undelivered messages.
    var isDiscarded = false
    /// Whether another host of the group handed this connection's stream over.
    var wasHandedOver = false
    /// Whether the peer was sent an address token, or a token was requested for it from the
    /// directory.
    var hasToken = false

    /// Whether the peer's request was answered, or withdrawn.
    var wasAnswered: Bool { wasOpen || connection.lateAnswer != nil }

    /// The peer's role on the connection's datagram path.
    var peerRole: PathRole { isIncoming ? .initiator : .responder }
  }
}

extension Host.Entry {
  /// What a data packet has changed.
  struct Change {
    /// Whether the connection has events, other than unread messages, or its peer has moved.
    var needsRefresh = false
    var isReadable = false
    /// Whether the connection may have something to transmit and is not queued in `ready` yet.
    var isReady = false
    var timeout: Instant?
  }

  /// Receives a data packet.
  mutating func receiveDatagram(
    _ bytes: Span<UInt8>, into arrivals: inout Arrivals, _ scratch: inout Scratch, at now: Instant
  ) -> Change {
    connection.receiveDatagram(bytes, into: &arrivals, &scratch, at: now)
    var change = Change()
    change.needsRefresh = hasChanged()
    guard !change.needsRefresh else { return change }
    change.isReadable = connection.takeMessagesEvent()
    if !isReady, connection.mayTransmit(at: now) {
      isReady = true
      change.isReady = true
    }
    change.timeout = connection.findTimeout()
    return change
  }

  /// Queues a message; see `Host.send`. Sets `isNewlyReady` to whether the connection has to be
  /// queued in `ready`.
  ///
  /// Returns an error instead of throwing it: if an access to an element of an array may end with
  /// an error, the compiler does not inline it.
  @inline(__always)
  mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, _ isNewlyReady: inout Bool,
    at now: Instant
  ) -> Result<UInt64?, SendError> {
    do throws(SendError) {
      let number = try connection.send(bytes, on: channel, options, at: now)
      isNewlyReady = !isReady
      isReady = true
      return .success(number)
    } catch { return .failure(error) }
  }

  /// What has become of a connection that was ready.
  enum Transmission {
    /// Its stream has to be polled first. Nothing was transmitted.
    case needsStream
    /// Everything was transmitted. The value is what `timeoutIfUnchanged` returns.
    case done(Instant?)
  }

  /// Marks the connection as not ready and passes all datagrams that it can send now to `send`,
  /// unless its stream has to be polled.
  mutating func transmitDatagrams(
    _ scratch: inout Scratch, at now: Instant, _ send: (Span<UInt8>, Route) -> Void
  ) -> Transmission {
    isReady = false
    guard !connection.needsStreamPoll() else { return .needsStream }
    while let route = pollDatagram(&scratch, at: now) { send(scratch.writer.span, route) }
    return .done(timeoutIfUnchanged())
  }

  /// Writes the connection's next datagram with `scratch.writer` and returns its route, or nil if
  /// no datagram can be sent now.
  mutating func pollDatagram(_ scratch: inout Scratch, at now: Instant) -> Route? {
    guard connection.mayTransmit(at: now) else { return nil }
    return connection.pollDatagram(&scratch, at: now)
  }

  /// Returns whether the connection has events, other than unread messages, or its peer has moved.
  private mutating func hasChanged() -> Bool {
    !connection.events.isEmpty || connection.channels.hasEvents
      || connection.findMigrations() != migrations
  }

  /// Returns the connection's next timeout, or nil if it has none, has ended, has events, or its
  /// peer has moved.
  mutating func timeoutIfUnchanged() -> Instant? {
    hasChanged() || connection.isMessagesEventDue || connection.isClosed
      ? nil : connection.findTimeout()
  }
}
