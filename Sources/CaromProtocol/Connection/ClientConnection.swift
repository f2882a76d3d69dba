import CaromCore

/// A connection in plaintext that this side opens to a host, and whose only links are streams, one
/// at a time: what a page in a browser needs of a `Host`, which has many connections, over
/// datagrams as well, and accepts some of them.
///
/// After each call that may change it, poll `pollEvent`, then `pollTransmit`, then
/// `pollLinkAction`, and begin again if there are events. Call `handleTimeout` at
/// `findTimeout()`.
package struct StreamConnection: Sendable {
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

  /// Handles the end of the stream.
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

#if arch(wasm32)
  // A page in a browser opens its connections, over streams. These properties are constant there,
  // so that the compiler removes what handles datagrams and the connections of others.
  extension Connection {
    var isInitiator: Bool { true }

    var datagram: DatagramPath? {
      get { nil }
      nonmutating set {}
    }
  }
#endif
