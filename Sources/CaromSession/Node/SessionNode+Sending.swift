import CaromCore
import CaromProtocol
import CaromTransport

// Sending, for code on the loop: nothing here waits.
extension SessionNode {
  /// A writer that has grown beyond this gives its room back.
  private static let keptCapacity = 64 << 10

  /// Queues or offers a message, as its channel's `Delivery` says. What a turn of the loop sends
  /// leaves together at its end; what has not left after `lifetime` is dropped, and told of.
  public func send<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to link: ConnectionID,
    lifetime: Duration? = nil
  ) throws(SendError) {
    encode(message)
    defer { releaseWriter() }
    let options = channel.options(lifetime: lifetime, at: loop.now)
    _ = try send(writer.bytes.span, on: channel.id, options, to: link)
  }

  /// As `send`; an event tells what became of the message, under the number that is returned.
  public func sendForReceipt<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to link: ConnectionID,
    lifetime: Duration? = nil
  ) throws(SendError) -> UInt64 {
    encode(message)
    defer { releaseWriter() }
    let options = channel.options(lifetime: lifetime, wantsReceipt: true, at: loop.now)
    let number = try send(writer.bytes.span, on: channel.id, options, to: link)
    guard let number else { preconditionFailure("a message with a receipt has a number") }
    return number
  }

  /// Sends a message to every peer, or to those of `links`, and encodes it once; says to whom it
  /// could not be sent, and why.
  @discardableResult
  public func broadcast<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to links: [ConnectionID]? = nil,
    lifetime: Duration? = nil
  ) -> [ConnectionID: SendError] {
    encode(message)
    defer { releaseWriter() }
    let options = channel.options(lifetime: lifetime, at: loop.now)
    var failures: [ConnectionID: SendError] = [:]
    for link in links ?? lobby.connectionIDs where links != nil || lobby.isOpen(link) {
      do throws(SendError) {
        _ = try send(writer.bytes.span, on: channel.id, options, to: link)
      } catch { failures[link] = error }
    }
    return failures
  }

  func send(
    _ bytes: Span<UInt8>, on channel: UInt8, _ options: SendOptions, to link: ConnectionID
  ) throws(SendError) -> UInt64? {
    defer { flushLater() }
    // The machine looks at the clock when it fills packets.
    return try lobby.send(bytes, on: channel, options, to: link, at: lastTurn)
  }

  private func encode<Message: PacketCodable>(_ message: Message) {
    writer.removeAll()
    message.encode(into: &writer)
  }

  private func releaseWriter() {
    if writer.count > Self.keptCapacity { writer = PacketWriter() }
  }

  /// Sends what was queued now, and not at the end of the loop's turn.
  public func flush() { drain() }

  func flushLater() {
    guard !isDraining else {
      needsAnotherRound = true
      return
    }
    guard let turnEnd else { return makeEndOfTurnCallback() }
    turnEnd.schedule()
  }

  @inline(never) private func makeEndOfTurnCallback() {
    turnEnd = EndOfTurnCallback(on: loop, owner: self) { node in node.drain() }
    turnEnd?.schedule()
  }
}

// MARK: - From any thread
extension SessionNode {
  /// Queues or offers a message from any thread: never waits, and says nothing of what became of
  /// it. `false` where it was not even taken: it is too long, or too much waits for the loop.
  @discardableResult
  public nonisolated func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to link: ConnectionID,
    lifetime: Duration? = nil
  ) -> Bool {
    post(message, on: channel, to: .one(link), lifetime: lifetime)
  }

  nonisolated func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to target: Outbox.Target,
    lifetime: Duration?
  ) -> Bool {
    let bytes = message.encoded
    guard bytes.count <= ChannelLimits.length(of: channel.delivery) else { return false }
    let options = channel.options(lifetime: lifetime, at: loop.now)
    switch outbox.append(
      Outbox.Entry(bytes: bytes, channel: channel.id, options: options, target: target))
    {
    case .refused: return false
    case .isFirst: loop.post { self.assumeIsolated { $0.sendPosted() } }
    case .isMore: break
    }
    return true
  }

  private func sendPosted() {
    for entry in outbox.take() {
      switch entry.target {
      case .one(let link): post(entry, to: link)
      case .all: for link in lobby.connectionIDs where lobby.isOpen(link) { post(entry, to: link) }
      }
    }
  }

  private func post(_ entry: Outbox.Entry, to link: ConnectionID) {
    do throws(SendError) {
      _ = try send(entry.bytes.span, on: entry.channel, entry.options, to: link)
    } catch { postsRefused += 1 }
  }
}
