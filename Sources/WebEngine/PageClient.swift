import CaromCore
import CaromProtocol
import CaromSimulation

/// A client of a rollback match in plaintext: the session protocol's connection, and the match that
/// a `RollbackServer` serves over it. In a web page, the connection's stream is a WebSocket, and
/// the datagram link that it may have beside the stream is a WebRTC data channel.
///
/// It is a machine: its owner passes it what arrives on the links, the time and the player's input,
/// and polls it for what to send.
///
/// After each call, poll `pollNotice`, then `takeDatagram` until it returns no bytes, then
/// `takeOutput`, then `takeLinkAction`. Call `receive(at:)` in each frame, and at `nextTimeout` if
/// no frame is drawn until then.
package struct PageClient<Game: Simulation & PacketCodable>: Sendable {
  /// Something that happened to the connection or the match, rather than in the game.
  package enum Notice: Hashable, Sendable {
    /// The host has granted a seat.
    case joined(PeerInfo)
    /// No link carries the connection. It can be resumed for `SessionTiming.resumeLimit`.
    case interrupted
    /// A link carries the connection again.
    case resumed
    /// The owner should open a new stream, unless it is already doing so.
    case reconnect
    /// The state differs from the host's, which sends the whole state again.
    case desynced
    /// A message of the game has arrived on a channel other than the two of the match.
    case message(channel: UInt8, [UInt8])
    /// The connection has ended, and the match with it.
    case left(DisconnectReason)
  }

  /// The time for which the first state waits for the first measurement of the round-trip time.
  /// Without one, the game starts too late by a round trip, and so do the player's inputs.
  private static var measuringLimit: Duration { .seconds(1) }
  /// The maximum number of ticks that are simulated after the connection has ended, to reach the
  /// last inputs that arrived.
  private static var finalTickLimit: Int { 600 }
  /// The maximum number of messages about the match that wait for the first measurement of the
  /// round-trip time. A host sends a seat and one state.
  private static var heldLimit: Int { 16 }

  /// The channels of the match: the inputs, and what has to arrive.
  package let channels: (inputs: UInt8, control: UInt8)
  /// The game with its prediction and its clock.
  package private(set) var client: RollbackClient<Game>
  /// The reason why the connection has ended, or nil while it has not.
  package private(set) var endReason: DisconnectReason?
  /// The host that has granted a seat, or nil before that.
  package private(set) var peer: PeerInfo?
  /// Whether no link carries the connection, which waits to be resumed.
  package private(set) var isInterrupted = false
  /// The kind of the link that carries messages now, or nil if no link can.
  package private(set) var messageLink: LinkKind?

  private var connection: ClientConnection
  private var notices = Deque<Notice>()
  private var output: [UInt8] = []
  /// The number of bytes that the stream had not sent at the last call of `takeOutput`.
  private var queued = 0
  private var linkAction: LinkAction?
  /// The messages about the match that arrived before the round-trip time was known.
  private var held: [(packet: RollbackPacket, arrival: Instant)] = []
  private var measuringDeadline: Instant?
  private var due = 0
  /// The number of ticks to simulate at once because the first state has arrived.
  private var startingTicks = 0
  private var writer = PacketWriter(capacity: 512)
  /// The messages of the last poll. A property only so that its storage is reused.
  private var arrived: [(channel: UInt8, bytes: [UInt8])] = []

  /// Creates a client that describes itself as `local` and has no stream yet. `key` names the
  /// connection on each of its links: 128 random bits. `channels` are those that the host uses.
  package init(
    _ local: PeerInfo, key: ConnectionKey, channels: (inputs: UInt8, control: UInt8),
    timing: SessionTiming = SessionTiming(), at now: Instant
  ) {
    self.channels = channels
    client = RollbackClient(at: now)
    connection = ClientConnection(as: local, key: key, timing: timing)
  }

  // MARK: The stream

  /// Begins a stream that the owner has opened to the host: requests a seat on it or, if the
  /// connection is open, continues the connection on it. Returns false if the connection has ended
  /// or has a stream already; the owner then closes the new one.
  package mutating func openStream(at now: Instant) -> Bool {
    guard endReason == nil, connection.addStream(at: now) else { return false }
    queued = 0
    finish(at: now)
    return true
  }

  /// Receives bytes that arrived on the stream, cut anywhere.
  package mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
    connection.receive(bytes, at: now)
    finish(at: now)
  }

  /// Handles the end of the stream, or the failure to open it. The failure to open the first stream
  /// ends the connection.
  package mutating func closeStream(_ end: LinkEnd, at now: Instant) {
    output.removeAll()
    guard connection.hasBegun else { return self.end(.connectionLost) }
    connection.handleLinkEnd(end, at: now)
    finish(at: now)
  }

  // MARK: Datagrams

  /// Begins to use a datagram link that the owner has opened to the host. Returns false if the host
  /// has not granted a seat or the connection has ended; the owner then closes the link.
  package mutating func openDatagrams(at now: Instant) -> Bool {
    guard connection.openDatagrams(at: now) else { return false }
    finish(at: now)
    return true
  }

  /// Receives a datagram.
  package mutating func receiveDatagram(_ bytes: Span<UInt8>, at now: Instant) {
    connection.receiveDatagram(bytes, at: now)
    finish(at: now)
  }

  /// Removes and returns the next datagram to send, or no bytes if there is none.
  package mutating func takeDatagram(at now: Instant) -> [UInt8] {
    var datagram: [UInt8] = []
    _ = connection.pollDatagram(at: now) { datagram.append(copying: $0) }
    finish(at: now)
    return datagram
  }

  /// Handles the end of the datagram link. What was lost with it is sent on the stream.
  package mutating func closeDatagrams(at now: Instant) {
    connection.closeDatagrams(at: now)
    finish(at: now)
  }

  // MARK: Messages

  /// Sends a goodbye, and ends the connection.
  package mutating func leave(_ goodbye: Goodbye = Goodbye(.left), at now: Instant) {
    connection.close(goodbye, at: now)
    finish(at: now)
  }

  /// Queues a message of the game. If the queue has no room for it, ends the connection, because
  /// the host reads nothing.
  package mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ delivery: Delivery, at now: Instant
  ) {
    send(bytes, on: channel, SendOptions(delivery), at: now)
    finish(at: now)
  }

  private mutating func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, at now: Instant
  ) {
    do throws(SendError) {
      try connection.send(bytes, on: channel, options, at: now)
    } catch {
      guard options.delivery.isReliable, error != .notConnected else { return }
      connection.close(Goodbye(.tooSlow), as: .tooSlow, at: now)
    }
  }

  /// Removes and returns the next notice, or nil if there is none.
  package mutating func pollNotice() -> Notice? { notices.popFirst() }

  /// Removes and returns up to `limit` of the bytes to write to the stream. `queued` is the number
  /// of bytes that the stream has not sent yet; while they are many, states and inputs wait here,
  /// where newer ones replace them.
  package mutating func takeOutput(
    upTo limit: Int, queued: Int, at now: Instant
  ) -> [UInt8] {
    self.queued = queued
    finish(at: now)
    guard output.count > limit else {
      defer { output = [] }
      return output
    }
    defer { output.removeFirst(limit) }
    return Array(output[..<limit])
  }

  /// Removes and returns what to do with the stream once the output is taken, or nil. After an
  /// action the stream no longer belongs to the client.
  package mutating func takeLinkAction() -> LinkAction? {
    guard output.isEmpty || linkAction == .cut else { return nil }
    defer { linkAction = nil }
    return linkAction
  }

  /// The time at which `receive(at:)` has to be called at the latest, or nil for no such time.
  package private(set) var nextTimeout: Instant?

  // MARK: Ticks

  /// Whether a tick is due, according to the last call of `receive(at:)`.
  package var isTickDue: Bool { due > 0 }

  /// Handles the timeouts that are due, and counts the ticks that are.
  package mutating func receive(at now: Instant) {
    if let nextTimeout, now >= nextTimeout { connection.handleTimeout(at: now) }
    finish(at: now)
    receiveHeld(at: now)
    guard endReason == nil else { return }
    due = max(due + client.takeDueTicks(at: now), startingTicks)
    startingTicks = 0
    sendMatch(at: now)
  }

  /// Simulates one tick with the player's input. After the last tick that is due, sends the inputs.
  /// Returns whether the tick was simulated or has stalled, or nil before the first state.
  @discardableResult
  package mutating func advance(
    with input: Game.Input, at now: Instant
  ) -> Rollback<Game>.Outcome? {
    let outcome = client.advance(with: input)
    due = max(0, due - 1)
    takeDesyncs()
    if due == 0 { sendMatch(at: now) }
    return outcome
  }

  /// Removes and returns the next event of the game, or nil if there is none.
  package mutating func pollEvent() -> RollbackEvent<Game.Event>? { client.pollEvent() }

  // MARK: Events of the connection

  /// Drains the connection: its events and messages, then its output.
  private mutating func finish(at now: Instant) {
    repeat {
      while let event = connection.pollEvent() { handle(event, at: now) }
      transmit(at: now)
    } while connection.hasEvents
    nextTimeout = connection.findTimeout()
    messageLink = connection.findLink()
  }

  private mutating func handle(_ event: ConnectionEvent, at now: Instant) {
    switch event {
    case .opened(let info):
      peer = info
      measuringDeadline = now + Self.measuringLimit
      notices.append(.joined(info))
    case .messages: receiveMessages(at: now)
    case .measured(let roundTrip):
      client.roundTrip = roundTrip.smoothed ?? client.roundTrip
      measuringDeadline = nil
      receiveHeld(at: now)
    case .interrupted:
      isInterrupted = true
      notices.append(.interrupted)
    case .resumed:
      isInterrupted = false
      notices.append(.resumed)
    case .reconnect: notices.append(.reconnect)
    case .closed(let reason): end(reason)
    default: break
    }
  }

  private mutating func receiveMessages(at now: Instant) {
    var messages: [(channel: UInt8, bytes: [UInt8])] = []
    swap(&messages, &arrived)
    var hasMessage = true
    while hasMessage {
      hasMessage = connection.pollMessage { channel, bytes in
        messages.append((channel, Array(copying: bytes)))
      }
    }
    for (channel, bytes) in messages { receive(bytes, on: channel, at: now) }
    messages.removeAll(keepingCapacity: true)
    swap(&messages, &arrived)
  }

  private mutating func receive(_ bytes: [UInt8], on channel: UInt8, at now: Instant) {
    guard endReason == nil else { return }
    do throws(DecodeError) {
      switch channel {
      case channels.inputs where held.isEmpty: try client.receive(.inputs, bytes.span, at: now)
      // Inputs that arrive before the state that waits are of no use.
      case channels.inputs: break
      case channels.control:
        let packet = try RollbackPacket(decoding: bytes.span)
        // A host sends the last inputs of a match reliably.
        guard packet.message != .inputs else {
          if held.isEmpty { try client.receive(packet, at: now) }
          return
        }
        guard held.count < Self.heldLimit else { throw .invalid(what: "message of the match") }
        held.append((packet, now))
        receiveHeld(at: now)
      default: notices.append(.message(channel: channel, bytes))
      }
    } catch { reject(at: now) }
  }

  /// Processes the messages about the match, unless they wait for the round-trip time.
  private mutating func receiveHeld(at now: Instant) {
    let isMeasuring = measuringDeadline.map { now < $0 } ?? false
    guard !held.isEmpty, client.rollback != nil || !isMeasuring else { return }
    var packets: [(packet: RollbackPacket, arrival: Instant)] = []
    swap(&packets, &held)
    for (packet, arrival) in packets {
      let hadState = client.rollback != nil
      do throws(DecodeError) {
        try client.receive(packet, at: arrival)
      } catch { return reject(at: now) }
      if !hadState, client.rollback != nil {
        startingTicks = client.startingTicks(since: arrival, at: now)
      }
    }
    takeDesyncs()
  }

  private mutating func takeDesyncs() {
    while client.pollDesync() != nil { notices.append(.desynced) }
  }

  /// Disconnects a host that violates the protocol of the match.
  package mutating func reject(at now: Instant) {
    connection.close(Goodbye(.protocolViolation), as: .protocolViolation, at: now)
  }

  /// Simulates the ticks whose inputs arrived before the connection ended.
  private mutating func end(_ reason: DisconnectReason) {
    guard endReason == nil else { return }
    endReason = reason
    isInterrupted = false
    due = 0
    let behind = client.ticksBehind ?? 0
    for _ in 0..<min(max(1, behind), Self.finalTickLimit) { client.advance() }
    notices.append(.left(reason))
  }

  // MARK: Output

  /// Sends what the match has for the host.
  private mutating func sendMatch(at now: Instant) {
    while true {
      writer.removeAll()
      guard let message = client.pollTransmit(into: &writer) else { break }
      if message == .inputs {
        send(
          writer.bytes.span, on: channels.inputs, Self.options(.unreliableSequenced), at: now)
      } else {
        let packet = RollbackPacket(message, writer.bytes).encoded
        send(packet.span, on: channels.control, Self.options(.reliableOrdered), at: now)
      }
    }
    finish(at: now)
  }

  /// The match precedes other messages of the game.
  private static func options(_ delivery: Delivery) -> SendOptions {
    var options = SendOptions(delivery)
    options.plan = ChannelPlan(priority: 3)
    return options
  }

  private mutating func transmit(at now: Instant) {
    var output: [UInt8] = []
    swap(&output, &self.output)
    var hasWritten = true
    while hasWritten {
      hasWritten = connection.pollTransmit(queued: queued + output.count, at: now) {
        output.append(copying: $0)
      }
    }
    if let action = connection.pollLinkAction() { linkAction = action }
    swap(&output, &self.output)
  }
}
