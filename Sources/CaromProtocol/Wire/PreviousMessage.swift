/// The message frame before this one in the packet, where the next may lean on it: a numbered
/// message, not a fragment. Frames that are no messages do not count.
struct PreviousMessage: Sendable {
  private(set) var delivery = Delivery.unreliable
  private(set) var channel: UInt8 = 0
  private(set) var number: UInt16 = 0

  /// Whether there is such a message.
  var isSet: Bool { delivery.isNumbered }

  mutating func set(_ delivery: Delivery, _ channel: UInt8, _ number: UInt16) {
    self.delivery = delivery
    self.channel = channel
    self.number = number
  }

  mutating func forget() { delivery = .unreliable }

  mutating func advance() { number &+= 1 }

  /// Whether a message is the next one, so that its channel, mode and number go unsaid.
  @inline(__always)
  func isFollowed(by delivery: Delivery, _ channel: UInt8, _ number: UInt16) -> Bool {
    isSet && delivery == self.delivery && channel == self.channel && number == self.number &+ 1
  }
}
