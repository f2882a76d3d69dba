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
    try encode(message, for: channel)
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
    try encode(message, for: channel)
    defer { releaseWriter() }
    let options = channel.options(lifetime: lifetime, wantsReceipt: true, at: loop.now)
    let number = try send(writer.bytes.span, on: channel.id, options, to: connection)
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
      try encode(message, for: channel)
    } catch {
      return targets.reduce(into: [:]) { $0[$1] = error }
    }
    defer { releaseWriter() }
    let options = channel.options(lifetime: lifetime, at: loop.now)
    var failures: [ConnectionID: SendError] = [:]
    for connection in targets where connections != nil || isJoined(connection) {
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
    do throws(SendError) {
      return try lobby.host.send(bytes, on: channel, options, to: connection, at: turn.drainedAt)
    } catch {
      if case .queueFull = error { watchFullQueue(of: connection) }
      throw error
    }
  }

  private func encode<Message>(
    _ message: Message, for channel: MessageChannel<Message>
  ) throws(SendError) {
    writer.removeAll()
    try channel.coding.encode(message, into: &writer)
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
