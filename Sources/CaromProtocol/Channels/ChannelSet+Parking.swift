// Back-pressure: what the owner does not take stays here, within the credit that was given for it.
extension ChannelSet {
  /// The next message that the owner takes.
  ///
  /// Only messages that cost credit are parked; of the others there are never more than their
  /// bounds allow, and a reader that is behind drops them itself.
  mutating func nextReady(parking: ChannelMask) -> ReadyQueue.Message? {
    if let message = unpark(parking) { return message }
    while let message = ready.popFirst() {
      guard !parking.isEmpty, message.delivery.needsCredit, parking.contains(message.channel) else {
        return message
      }
      park(message)
    }
    return nil
  }

  /// Parked messages come before those of their channel that came later.
  private mutating func unpark(_ parking: ChannelMask) -> ReadyQueue.Message? {
    guard let index = parked.firstIndex(where: { !parking.contains($0.channel) }) else {
      return nil
    }
    let message = parked[index].messages.popFirst()
    if parked[index].messages.isEmpty { parked.remove(at: index) }
    return message
  }

  private mutating func park(_ message: ReadyQueue.Message) {
    let known = parked.firstIndex { $0.channel == message.channel }
    if known == nil { parked.append(ParkedMessages(channel: message.channel)) }
    parked[known ?? parked.count - 1].messages.append(message)
  }
}
