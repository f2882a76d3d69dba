import CaromCore
import CaromProtocol

// Sending from tasks, which wait until the send queue has room.
extension SessionNode {
  /// Sends a message as soon as the peer's send queue has room for it and for all messages that
  /// were waiting before it. Throws `expired` if `lifetime` passes first, `cancelled` if the task
  /// is cancelled, and `queueFull` if too many messages are waiting.
  public func sendWhenRoom<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to connection: ConnectionID,
    lifetime: Duration? = nil
  ) async throws(SendError) {
    let options = channel.options(lifetime: lifetime, at: loop.now)
    _ = try await send(channel.encoded(message), on: channel.id, options, to: connection)
  }

  /// Sends a message like `sendWhenRoom`, and waits for its delivery receipt. Returns whether the
  /// message was delivered.
  public func sendConfirmed<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to connection: ConnectionID,
    lifetime: Duration? = nil
  ) async throws(SendError) -> Bool {
    let options = channel.options(lifetime: lifetime, wantsReceipt: true, at: loop.now)
    let number = try await send(channel.encoded(message), on: channel.id, options, to: connection)
    guard let number else { preconditionFailure("a message with a receipt has a number") }
    let key = ReceiptKey(connection: connection, message: number)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if case .resolved(let isDelivered) = waiters.receipts[key] {
          waiters.receipts[key] = nil
          continuation.resume(returning: isDelivered)
        } else if Task.isCancelled || !lobby.isOpen(connection) {
          waiters.receipts[key] = nil
          continuation.resume(returning: false)
        } else {
          waiters.receipts[key] = .awaited(continuation)
        }
      }
    } onCancel: {
      loop.post { self.assumeIsolated { $0.waiters.cancelReceipt(key) } }
    }
  }

  func send(
    _ bytes: [UInt8], on channel: UInt8, _ options: SendOptions, to connection: ConnectionID
  ) async throws(SendError) -> UInt64? {
    if Task.isCancelled { throw .cancelled }
    if waiters.sends[connection] == nil {
      do throws(SendError) {
        let number = try send(bytes.span, on: channel, options, to: connection)
        awaitReceipt(of: number, options, on: connection)
        return number
      } catch {
        guard case .queueFull = error else { throw error }
      }
    }
    let waiting = waiters.sends[connection]?.taskCount ?? 0
    guard waiting < BackpressureQueue.limit else {
      throw .queueFull(queued: lobby.host.queuedBytes(of: connection))
    }
    return try await wait(bytes, channel, options, connection).get()
  }

  private func wait(
    _ bytes: [UInt8], _ channel: UInt8, _ options: SendOptions, _ connection: ConnectionID
  ) async -> Result<UInt64?, SendError> {
    let id = waiters.makeSendID()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiters.sends[connection, default: BackpressureQueue()].append(
          BackpressureQueue.Entry(
            id: id, bytes: bytes, channel: channel, options: options,
            continuation: continuation))
        // The queue may have got room, or the task been cancelled, before this closure ran.
        if Task.isCancelled {
          cancelSend(id, on: connection)
        } else if waiters.sends[connection]?.entries.count == 1 {
          sendWaiting(on: connection)
        }
        if options.deadline != nil { rearm() }
      }
    } onCancel: {
      loop.post { self.assumeIsolated { $0.cancelSend(id, on: connection) } }
    }
  }

  private func cancelSend(_ id: UInt64, on connection: ConnectionID) {
    waiters.cancelSend(id, on: connection)
    // Those behind it may have room.
    sendWaiting(on: connection)
  }

  /// Removes the waiting messages whose lifetimes have ended, and sends the messages behind them if
  /// the send queue has room.
  func expireSends(at now: Instant) {
    for connection in waiters.expireSends(at: now) {
      acceptPostsIfRoom(to: connection)
      sendWaiting(on: connection)
    }
  }

  /// Sends the waiting messages of a connection, in order, until the send queue is full again.
  func sendWaiting(on connection: ConnectionID) {
    while let entry = waiters.sends[connection]?.entries.first {
      let result: Result<UInt64?, SendError>
      do throws(SendError) {
        result = .success(
          try send(entry.bytes.span, on: entry.channel, entry.options, to: connection))
      } catch {
        if case .queueFull = error { return }
        result = .failure(error)
      }
      _ = waiters.sends[connection]?.popFirst()
      if case .success(let number) = result {
        awaitReceipt(of: number, entry.options, on: connection)
      }
      if let continuation = entry.continuation {
        continuation.resume(returning: result)
      } else {
        if case .failure = result { postsRefused += 1 }
        acceptPostsIfRoom(to: connection)
      }
    }
    waiters.sends[connection] = nil
  }

  /// If the message has a receipt, registers it, so that its result is stored if it arrives before
  /// the sending task waits for it.
  private func awaitReceipt(
    of number: UInt64?, _ options: SendOptions, on connection: ConnectionID
  ) {
    guard options.wantsReceipt, let number else { return }
    waiters.receipts[ReceiptKey(connection: connection, message: number)] = .pending
  }
}
