/// The received messages of a connection that was removed before its owner had read them.
struct UndeliveredMessages: Sendable {
  let connection: ConnectionID
  var channels: ChannelSet
}

// Messages that a peer sent before it left are still delivered if the owner reads them later.
extension Host {
  /// The maximum number of removed connections whose messages are kept. Beyond this number, the
  /// messages of the connection that was removed first are dropped.
  static let undeliveredLimit = 64

  mutating func storeUndeliveredMessages(of entry: Entry) {
    guard entry.wasOpen, !entry.isDiscarded, entry.connection.channels.hasMessages else { return }
    if undelivered.count == Self.undeliveredLimit { undelivered.removeFirst() }
    undelivered.append(
      UndeliveredMessages(connection: entry.id, channels: entry.connection.channels))
    undelivered[undelivered.count - 1].channels.dropOutgoing()
  }

  mutating func pollUndelivered(
    _ id: ConnectionID, _ parking: ChannelMask,
    _ body: (_ channel: UInt8, _ bytes: Span<UInt8>) -> Void
  ) -> Bool {
    guard let index = undelivered.firstIndex(where: { $0.connection == id }) else { return false }
    let hasMessage = undelivered[index].channels.pollMessage(parking: parking) {
      channel, _, bytes in body(channel, bytes)
    }
    if !undelivered[index].channels.hasMessages { undelivered.remove(at: index) }
    return hasMessage
  }

  /// Drops the undelivered messages of a connection that has ended. If the connection has not been
  /// removed yet, the messages that it still holds are dropped on removal.
  package mutating func discardUndelivered(_ id: ConnectionID) {
    undelivered.removeAll { $0.connection == id }
    if let index = index(of: id) { entries[index].isDiscarded = true }
  }
}
