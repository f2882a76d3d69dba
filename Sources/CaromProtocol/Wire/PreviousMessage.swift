/// The last message frame before the current frame in a packet. A "next message" frame refers to
/// it, which is possible only if it is a whole, numbered message. Frames other than message frames
/// do not affect the value.
struct PreviousMessage: Sendable {
  private(set) var delivery = Delivery.unreliable
  private(set) var channel: UInt8 = 0
  private(set) var number: UInt16 = 0

  /// Whether a "next message" frame may follow.
  var isSet: Bool { delivery.isNumbered }

  mutating func set(_ delivery: Delivery, _ channel: UInt8, _ number: UInt16) {
    self.delivery = delivery
    self.channel = channel
    self.number = number
  }

  mutating func reset() { delivery = .unreliable }

  mutating func advance() { number &+= 1 }

  /// Returns whether a message has this message's channel and delivery, and the next number. Its
  /// frame may then omit all three.
  @inline(__always)
  func isFollowed(by delivery: Delivery, _ channel: UInt8, _ number: UInt16) -> Bool {
    isSet && delivery == self.delivery && channel == self.channel && number == self.number &+ 1
  }
}
