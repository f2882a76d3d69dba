import CaromCore

/// The options for sending one message.
package struct SendOptions: Hashable, Sendable {
  /// The delivery guarantee of the message.
  package var delivery: Delivery
  /// The time at which the message is dropped if no part of it has been sent by then; `nil` for no
  /// deadline.
  package var deadline: Instant?
  /// Whether a `receipt` event reports the outcome of the message.
  package var wantsReceipt: Bool

  /// The priority and weight that the channel adopts when its first message with this delivery is
  /// sent; `nil` to keep the current ones.
  package var plan: ChannelPlan?

  package init(_ delivery: Delivery, deadline: Instant? = nil, wantsReceipt: Bool = false) {
    self.delivery = delivery
    self.deadline = deadline
    self.wantsReceipt = wantsReceipt
  }
}
