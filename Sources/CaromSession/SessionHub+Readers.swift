import CaromCore
import CaromProtocol
import CaromTransport

// Readers may come from any thread, and at any time.
extension SessionHub {
  /// What is read, by channel.
  struct Registry: Sendable {
    var entries: [UInt8: any Sendable] = [:]
    var finishers: [@Sendable () -> Void] = []
    var hasEnded = false
  }

  /// The queue of a channel's messages, which is filled from the first call on.
  nonisolated func inbox<Message>(for channel: Channel<Message>) -> Inbox<Received<Message>> {
    let id = channel.id
    let (inbox, isNew) = entry(id, "channel \(id) is read as another type of message") {
      self.makeInbox(for: channel)
    } finish: {
      $0.finish()
    }
    if isNew {
      loop.post { self.assumeIsolated { $0.read(id, Self.reader(of: inbox)) } }
    }
    return inbox
  }

  /// What stands in the registry under a channel, made if nothing does.
  nonisolated func entry<Entry: Sendable>(
    _ id: UInt8, _ conflict: @autoclosure () -> String, make: () -> Entry,
    finish: @escaping @Sendable (Entry) -> Void
  ) -> (Entry, isNew: Bool) {
    registry.withLock { registry in
      if let known = registry.entries[id] {
        guard let entry = known as? Entry else { preconditionFailure(conflict()) }
        return (entry, false)
      }
      let entry = make()
      if registry.hasEnded {
        finish(entry)
        return (entry, false)
      }
      registry.entries[id] = entry
      registry.finishers.append { finish(entry) }
      return (entry, true)
    }
  }

  private nonisolated func makeInbox<Message>(
    for channel: Channel<Message>
  ) -> Inbox<Received<Message>> {
    let id = channel.id
    let onRoom: @Sendable () -> Void = { [weak self] in
      guard let self else { return }
      loop.post { self.assumeIsolated { $0.resume(id) } }
    }
    let overflow: Inbox<Received<Message>>.Overflow =
      switch channel.delivery {
      case .reliableOrdered, .reliableUnordered: .pause
      case .unreliable: .dropOldest
      case .reliableSequenced, .unreliableSequenced: .replace { $0.peer.link == $1.peer.link }
      }
    return Inbox(
      limit: Self.unreadLimit, byteLimit: Self.unreadByteLimit, overflow: overflow, onRoom: onRoom)
  }

  private static nonisolated func reader<Message: PacketCodable>(
    of inbox: Inbox<Received<Message>>
  ) -> Reader {
    { peer, bytes in
      guard let message = try? Message(decoding: bytes) else { return .malformed }
      let received = Received(peer: peer, message: message)
      return inbox.push(received, bytes: bytes.count) ? .taken : .takenAndFull
    }
  }
}
