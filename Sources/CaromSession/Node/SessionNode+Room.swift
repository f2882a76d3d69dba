import CaromCore
import CaromProtocol

// Sending, for tasks: they wait until there is room.
extension SessionNode {
  /// Sends a message as soon as the peer's queue has room for it, and after those that wait
  /// already. A message whose `lifetime` passes meanwhile is `expired`; a cancelled task's is
  /// `cancelled`; where more tasks wait than can, it is `queueFull`.
  public func sendWhenRoom<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to link: ConnectionID,
    lifetime: Duration? = nil
  ) async throws(SendError) {
    let options = channel.options(lifetime: lifetime, at: loop.now)
    _ = try await send(message.encoded, on: channel.id, options, to: link)
  }

  /// As `sendWhenRoom`, and returns when it is known what became of the message: whether the
  /// peer's end has it.
  public func sendConfirmed<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to link: ConnectionID,
    lifetime: Duration? = nil
  ) async throws(SendError) -> Bool {
    let options = channel.options(lifetime: lifetime, wantsReceipt: true, at: loop.now)
    let number = try await send(message.encoded, on: channel.id, options, to: link)
    guard let number else { preconditionFailure("a message with a receipt has a number") }
    let name = ReceiptName(link: link, message: number)
    if case .told(let isDelivered) = receipts[name] {
      receipts[name] = nil
      return isDelivered
    }
    guard lobby.isOpen(link) else { return false }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { receipts[name] = .awaited($0) }
    } onCancel: {
      loop.post { self.assumeIsolated { $0.forget(name) } }
    }
  }

  func send(
    _ bytes: [UInt8], on channel: UInt8, _ options: SendOptions, to link: ConnectionID
  ) async throws(SendError) -> UInt64? {
    if Task.isCancelled { throw .cancelled }
    if room[link] == nil {
      do throws(SendError) {
        return try send(bytes.span, on: channel, options, to: link)
      } catch {
        guard case .queueFull = error else { throw error }
      }
    }
    guard room[link, default: RoomQueue()].entries.count < RoomQueue.limit else {
      throw .queueFull(queued: lobby.host.queuedBytes(of: link))
    }
    return try await wait(bytes, channel, options, link).get()
  }

  private func wait(
    _ bytes: [UInt8], _ channel: UInt8, _ options: SendOptions, _ link: ConnectionID
  ) async -> Result<UInt64?, SendError> {
    nextTurn += 1
    let turn = nextTurn
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        room[link, default: RoomQueue()].entries.append(
          RoomQueue.Entry(
            turn: turn, bytes: bytes, channel: channel, options: options,
            continuation: continuation))
        if options.deadline != nil { rearm() }
      }
    } onCancel: {
      loop.post { self.assumeIsolated { $0.giveUp(turn, link) } }
    }
  }

  private func giveUp(_ turn: UInt64, _ link: ConnectionID) {
    let entry = room[link]?.entries.removeFirst { $0.turn == turn }
    if room[link]?.entries.isEmpty == true { room[link] = nil }
    entry?.continuation.resume(returning: .failure(.cancelled))
  }

  /// Those who wait go on as long as there is room.
  func serveRoom(_ link: ConnectionID) {
    while let entry = room[link]?.entries.first {
      let result: Result<UInt64?, SendError>
      do throws(SendError) {
        result = .success(
          try send(entry.bytes.span, on: entry.channel, entry.options, to: link))
      } catch {
        if case .queueFull = error { return }
        result = .failure(error)
      }
      _ = room[link]?.entries.popFirst()
      if entry.options.wantsReceipt, case .success(let number?) = result {
        // It may be told before the task that waits goes on.
        receipts[ReceiptName(link: link, message: number)] = .open
      }
      entry.continuation.resume(returning: result)
    }
    room[link] = nil
  }

  /// When the first lifetime of those who wait passes.
  var nextRoomTimeout: Instant? {
    room.values.reduce(nil) { earliest($0, $1.nextTimeout) }
  }

  func expireRoom(at now: Instant) {
    for link in room.keys {
      while let entry = room[link]?.entries.removeFirst(where: { $0.isLate(at: now) }) {
        entry.continuation.resume(returning: .failure(.expired))
      }
      if room[link]?.entries.isEmpty == true { room[link] = nil }
    }
  }

  /// The connection is gone: nobody waits for anything of it any more.
  func endWaits(of link: ConnectionID) {
    while let entry = room[link]?.entries.popFirst() {
      entry.continuation.resume(returning: .failure(.notConnected))
    }
    room[link] = nil
    for name in receipts.keys where name.link == link { settle(name, false) }
  }

  /// It is known what became of a message.
  func settle(_ name: ReceiptName, _ isDelivered: Bool) {
    switch receipts[name] {
    case .awaited(let continuation):
      receipts[name] = nil
      continuation.resume(returning: isDelivered)
    case .open: receipts[name] = .told(isDelivered)
    case .told, nil: break
    }
  }

  private func forget(_ name: ReceiptName) {
    settle(name, false)
    receipts[name] = nil
  }
}

extension RoomQueue {
  /// When the first lifetime passes.
  fileprivate var nextTimeout: Instant? {
    entries.reduce(nil) { earliest($0, $1.options.deadline) }
  }
}

extension RoomQueue.Entry {
  fileprivate func isLate(at now: Instant) -> Bool { options.deadline.map { $0 <= now } ?? false }
}
