// What a peer said before it left is not lost because the owner was busy.
extension Host {
  /// The most connections that are gone whose messages are kept for the owner; of more the oldest
  /// are forgotten.
  static let remainsLimit = 64

  mutating func keepRemains(of entry: Entry) {
    guard entry.wasOpen, entry.connection.channels.hasMessages else { return }
    if remains.count == Self.remainsLimit { remains.removeFirst() }
    remains.append((entry.id, entry.connection.channels))
    remains[remains.count - 1].channels.dropOutgoing()
  }

  mutating func pollRemains(
    _ link: ConnectionID, _ parking: ChannelMask,
    _ body: (_ channel: UInt8, _ bytes: Span<UInt8>) -> Void
  ) -> Bool {
    guard let index = remains.firstIndex(where: { $0.link == link }) else { return false }
    let isTaken = remains[index].channels.pollMessage(parking: parking) { channel, _, bytes in
      body(channel, bytes)
    }
    if !remains[index].channels.hasMessages { remains.remove(at: index) }
    return isTaken
  }

  mutating func discardRemains(_ link: ConnectionID) {
    remains.removeAll { $0.link == link }
  }
}
