import CaromCore
import CaromProtocol

/// A numbered lane of a connection: its messages' type and what is promised for them, declared
/// once.
///
/// ```swift
/// extension MessageChannel<Goal> { static var goals: Self { .init(0, .reliableOrdered) } }
/// ```
public struct MessageChannel<Message: PacketCodable>: Hashable, Sendable {
  /// The number on the wire; both sides give it the same meaning.
  public let id: UInt8
  /// What is promised for its messages.
  public let delivery: Delivery
  /// From 0, which is served first, to 7: a message is sent only while no channel of a lower number
  /// has anything to send.
  public let priority: UInt8
  /// The channel's share of the bandwidth relative to other channels of the same priority, 1 or
  /// more.
  public let weight: UInt8

  /// A lane; numbers are the application's own, 0 to 63.
  public init(_ id: UInt8, _ delivery: Delivery, priority: UInt8 = 4, weight: UInt8 = 1) {
    precondition(id < 64, "channels are 0 to 63")
    precondition(priority < 8, "a priority is 0 to 7")
    precondition(weight > 0, "a weight is 1 or more")
    self.id = id
    self.delivery = delivery
    self.priority = priority
    self.weight = weight
  }

  /// How this side's messages are sent on it.
  func options(
    lifetime: Duration?, wantsReceipt: Bool = false, at now: @autoclosure () -> Instant
  ) -> SendOptions {
    var options = SendOptions(
      delivery, deadline: lifetime.map { now() + $0 }, wantsReceipt: wantsReceipt)
    options.plan = ChannelPlan(priority: priority, weight: weight)
    return options
  }
}
