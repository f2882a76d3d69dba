import CaromCore

/// Parking: if a channel's reader is behind, those of the channel's messages that need credit stay
/// in the `ChannelSet`. Their credit is not returned, so the peer has to wait.
extension ChannelSet {
  /// Removes and returns the next message that the application may read, or nil if there is none.
  ///
  /// Only messages that need credit are parked. Messages with other deliveries are few and small,
  /// and a reader that is behind drops them itself.
  mutating func popReady(parking: ChannelMask) -> ReadyQueue.Message? {
    if let message = unpark(parking) { return message }
    while let message = ready.popFirst() {
      guard !parking.isEmpty, message.delivery.needsCredit, parking.contains(message.channel) else {
        return message
      }
      park(message)
    }
    return nil
  }

  /// Removes and returns the oldest message of the first parked channel that is not in `parking`,
  /// or nil if there is none. Parked messages must be delivered before later messages of their
  /// channel.
  private mutating func unpark(_ parking: ChannelMask) -> ReadyQueue.Message? {
    guard let index = parked.firstIndex(where: { !parking.contains($0.channel) }) else {
      return nil
    }
    let message = parked[index].messages.popFirst()
    if parked[index].messages.isEmpty { parked.remove(at: index) }
    return message
  }

  /// Parks a message that was added to `Arrivals` but whose reader has fallen behind since then.
  /// The message must need credit; the credit that was returned for it is taken back.
  mutating func park(_ arrival: Arrivals.Message, _ bytes: Span<UInt8>) {
    let index = index(ofChannel: arrival.channel)
    channels[index].credit.takeBack(bytes.count + ChannelLimits.messageCharge)
    park(
      ReadyQueue.Message(
        buffer: sendState.arena.store(bytes), length: UInt32(bytes.count), lane: .max,
        channel: arrival.channel, delivery: arrival.delivery))
  }

  private mutating func park(_ message: ReadyQueue.Message) {
    let known = parked.firstIndex { $0.channel == message.channel }
    if known == nil { parked.append(ParkedMessages(channel: message.channel)) }
    parked[known ?? parked.count - 1].messages.append(message)
  }
}

/// The parked messages of one channel, in order of arrival.
struct ParkedMessages: Sendable {
  let channel: UInt8
  var messages = Deque<ReadyQueue.Message>()
}
