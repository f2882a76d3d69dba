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
    let options = channel.options(lifetime: lifetime, at: loop.now)
    _ = try send(message, on: channel, options, to: connection)
  }

  /// Queues a message like `send`, and returns the message's number. A `receipt` event with this
  /// number reports whether the message was delivered.
  public func sendForReceipt<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to connection: ConnectionID,
    lifetime: Duration? = nil
  ) throws(SendError) -> UInt64 {
    let options = channel.options(lifetime: lifetime, wantsReceipt: true, at: loop.now)
    let number = try send(message, on: channel, options, to: connection)
    guard let number else { preconditionFailure("a message with a receipt has a number") }
    return number
  }

  /// Encodes a message once and queues it for the peers of all open connections, or only for those
  /// of `connections` if it is not nil. Returns the connections to which the message could not be
  /// sent, with the reasons; to all others it has been sent.
  public func broadcast<Message>(
    _ message: Message, on channel: MessageChannel<Message>,
    to connections: [ConnectionID]? = nil, lifetime: Duration? = nil
  ) -> [ConnectionID: SendError] {
    let targets = connections ?? lobby.connectionIDs
    do throws(SendError) {
      try Self.encode(message, for: channel, with: &writer)
    } catch {
      return targets.reduce(into: [:]) { $0[$1] = error }
    }
    defer { Self.releaseIfLarge(&writer) }
    let options = channel.options(lifetime: lifetime, at: loop.now)
    var failures: [ConnectionID: SendError] = [:]
    for connection in targets where connections != nil || isJoined(connection) {
      do throws(SendError) {
        _ = try send(writer.span, on: channel.id, options, to: connection)
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
    do throws(SendError) {
      return try lobby.host.send(bytes, on: channel, options, to: connection, at: turn.drainedAt)
    } catch {
      if case .queueFull = error { watchFullQueue(of: connection) }
      throw error
    }
  }

  private func send<Message>(
    _ message: Message, on channel: MessageChannel<Message>, _ options: SendOptions,
    to connection: ConnectionID
  ) throws(SendError) -> UInt64? {
    try Self.encode(message, for: channel, with: &writer)
    defer { flushLater() }
    do throws(SendError) {
      return try Self.sendEncoded(
        in: &writer, on: channel.id, options, to: connection, &lobby, at: turn.drainedAt)
    } catch {
      if case .queueFull = error { watchFullQueue(of: connection) }
      throw error
    }
  }

  // The methods below are static, so that each property of the node that they use is accessed only
  // once: an access to a property of a class is checked while the program runs, which takes longer
  // than adding a small message to its queue.

  private static func encode<Message>(
    _ message: Message, for channel: MessageChannel<Message>, with writer: inout PacketWriter
  ) throws(SendError) {
    writer.removeAll()
    try channel.coding.encode(message, into: &writer)
  }

  private static func sendEncoded(
    in writer: inout PacketWriter, on channel: UInt8, _ options: SendOptions,
    to connection: ConnectionID, _ lobby: inout Lobby, at now: Instant
  ) throws(SendError) -> UInt64? {
    defer { releaseIfLarge(&writer) }
    return try lobby.host.send(writer.span, on: channel, options, to: connection, at: now)
  }

  private static func releaseIfLarge(_ writer: inout PacketWriter) {
    if writer.count > keptCapacity { writer = PacketWriter() }
  }

  /// Sends queued messages now instead of at the end of the loop's turn.
  public func flush() { drain() }

  /// Makes sure that queued messages are sent at the end of the loop's turn.
  func flushLater() {
    if !turn.isFlushDue { scheduleFlush() }
  }

  @inline(never) private func scheduleFlush() {
    turn.isFlushDue = true
    guard !turn.isDraining else { return }
    if turn.end == nil {
      turn.end = EndOfTurnCallback(on: loop, owner: self) { node in node.drain() }
    }
    turn.end?.schedule()
  }
}
