import CaromCore

/// A connection in plaintext that this side opens to a host on a stream, and that may have a
/// datagram link beside the stream once it is open: what a page in a browser needs of a `Host`,
/// which has many connections and accepts some of them. In a page, the stream is a WebSocket, and
/// the datagram link is a WebRTC data channel.
///
/// The connection has at most one stream and one datagram link at a time. Messages travel in
/// datagrams as soon as the host answers on that link, and on the stream otherwise. The owner may
/// replace either link by another one when it fails.
///
/// After each call that may change it, poll `pollEvent`, then `pollDatagram`, then `pollTransmit`,
/// then `pollLinkAction`, and begin again if there are events. Call `handleTimeout` at
/// `findTimeout()`.
package struct ClientConnection: Sendable {
  private let side: LocalSide
  private let key: ConnectionKey
  /// Closed until the first stream.
  private var connection: Connection
  private var scratch = Scratch()
  /// Whether there has been a stream, on which this side has requested a seat.
  package private(set) var hasBegun = false

  /// Creates a connection without a stream. `key` names it on each of its streams.
  package init(as local: PeerInfo, key: ConnectionKey, timing: SessionTiming) {
    side = LocalSide(local, timing: timing)
    self.key = key
    connection = Connection(local: side, key: key, isInitiator: true, state: .closed, at: .zero)
  }

  /// Adds a stream that this side has opened: requests a seat on the first one, and continues the
  /// connection on any other one. Returns false if the connection has ended or has a stream.
  package mutating func addStream(at now: Instant) -> Bool {
    guard !hasBegun else { return connection.addStream(at: now) }
    hasBegun = true
    connection = .initiatingOnStream(as: side, key: key, at: now)
    return true
  }

  /// Receives bytes from the stream, cut anywhere.
  package mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
    connection.receive(bytes, &scratch, at: now)
  }

  /// Handles the end of the stream. If the host answers on the datagram link, the connection
  /// continues there.
  package mutating func handleLinkEnd(_ end: LinkEnd, at now: Instant) {
    connection.handleLinkEnd(end, at: now)
  }

  /// Handles the timeouts that are due at `now`.
  package mutating func handleTimeout(at now: Instant) { connection.handleTimeout(at: now) }

  /// Returns the time at which `handleTimeout` must be called, or nil for no such time.
  package mutating func findTimeout() -> Instant? { connection.findTimeout() }

  /// Sends `goodbye` to the host, and reports `reason` in an event.
  package mutating func close(
    _ goodbye: Goodbye, as reason: DisconnectReason = .closedLocally, at now: Instant
  ) {
    connection.close(goodbye, as: reason, at: now)
  }

  /// Queues a message on a channel.
  package mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, at now: Instant
  ) throws(SendError) {
    try connection.send(bytes, on: channel, options, at: now)
  }

  /// Whether `pollEvent` returns an event.
  package var hasEvents: Bool { connection.hasEvents }

  /// Removes and returns the next event, or nil if there is none.
  package mutating func pollEvent() -> ConnectionEvent? { connection.pollEvent() }

  /// Passes the next received message to `body`. Returns false if there is none.
  package mutating func pollMessage(
    _ body: (_ channel: UInt8, _ bytes: Span<UInt8>) -> Void
  ) -> Bool {
    connection.pollMessage(body)
  }

  /// Passes the next bytes for the stream to `write`. Returns false if there is nothing to write
  /// now. `queued` is the number of bytes that the stream has not sent yet.
  package mutating func pollTransmit(
    queued: Int, at now: Instant, _ write: (Span<UInt8>) -> Void
  ) -> Bool {
    connection.pollStream(queued: queued, &scratch, at: now, write)
  }

  /// Removes and returns what to do with the stream, or nil. After an action, the stream no longer
  /// belongs to the connection.
  package mutating func pollLinkAction() -> LinkAction? { connection.pollLinkAction() }
}

// MARK: - Datagrams
extension ClientConnection {
  /// Begins to use a datagram link that this side has opened to the host: a link that keeps the
  /// boundaries of datagrams and may lose or reorder them. Returns false if the connection is not
  /// open.
  package mutating func openDatagrams(at now: Instant) -> Bool {
    guard connection.isOpen else { return false }
    connection.connect(to: [.hostOfPage], at: now)
    return true
  }

  /// Receives a datagram. A malformed one is dropped.
  package mutating func receiveDatagram(_ bytes: Span<UInt8>, at now: Instant) {
    guard !bytes.isEmpty else { return }
    if DataHeader.begins(with: bytes[0]) {
      guard DataHeader.role(of: bytes[0]) == .responder else { return }
      // Without channels to read in place, all messages are stored in the connection.
      var none = Arrivals()
      return connection.receiveDatagram(bytes, into: &none, &scratch, at: now)
    }
    var reader = PacketReader(bytes.extracting(1..<bytes.count))
    // Hellos and handshakes are not for the initiator of a connection in plaintext.
    switch bytes[0] {
    case SessionDatagram.retryByte:
      guard let retry = try? Retry(decoding: &reader) else { return }
      connection.handleRetry(retry, from: .hostOfPage, at: now)
    case SessionDatagram.refusalByte:
      guard let refusal = try? Refusal(decoding: &reader), refusal.keyPrefix == key.prefix
      else { return }
      connection.handleRefusal(refusal, at: now)
    default: break
    }
  }

  /// Passes the next datagram to `write`. Returns false if there is none to send now.
  package mutating func pollDatagram(at now: Instant, _ write: (Span<UInt8>) -> Void) -> Bool {
    guard connection.pollDatagram(&scratch, at: now) != nil else { return false }
    write(scratch.writer.span)
    return true
  }

  /// Handles the end of the datagram link. Messages that were not acknowledged on it are sent on
  /// the stream. Without a stream, the connection is interrupted.
  package mutating func closeDatagrams(at now: Instant) { connection.suspendDatagrams(at: now) }

  /// Returns the kind of the link that carries messages now, or nil if no link can.
  package mutating func findLink() -> LinkKind? { connection.findLink() }
}

#if arch(wasm32)
  // A page in a browser opens all its connections. This property is constant there, so that the
  // compiler removes what handles the connections of others.
  extension Connection { var isInitiator: Bool { true } }
#endif
