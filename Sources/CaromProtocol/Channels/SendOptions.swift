import CaromCore

/// How one message is to be carried.
package struct SendOptions: Hashable, Sendable {
  /// What is promised of it.
  package var delivery: Delivery
  /// When it is dropped if nothing of it has left by then; `nil` for never.
  package var deadline: Instant?
  /// Whether an event tells what became of it.
  package var wantsReceipt: Bool

  /// The channel's share, which it gets with its first message.
  package var plan: ChannelPlan?

  package init(_ delivery: Delivery, deadline: Instant? = nil, wantsReceipt: Bool = false) {
    self.delivery = delivery
    self.deadline = deadline
    self.wantsReceipt = wantsReceipt
  }
}
