import CaromCore
import CaromProtocol

/// A numbered channel of a connection, declared once with the type of its messages and their
/// delivery.
///
/// ```swift
/// extension MessageChannel<Goal> { static var goals: Self { .init(0, .reliableOrdered) } }
/// ```
public struct MessageChannel<Message: PacketCodable>: Hashable, Sendable {
  /// The channel's number on the wire, 0 to 63. Both sides must declare the same message type for
  /// this number.
  public let id: UInt8
  /// The delivery guarantee of the channel's messages.
  public let delivery: Delivery
  /// The channel's priority, from 0 (first) to 7 (last). Everything queued on channels of one
  /// priority is sent before anything on channels of the next priority.
  public let priority: UInt8
  /// The channel's share of the bandwidth, at least 1, relative to other channels of the same
  /// priority.
  public let weight: UInt8

  /// Creates a channel with the number `id`. The application chooses the numbers of its channels,
  /// from 0 to 63.
  public init(_ id: UInt8, _ delivery: Delivery, priority: UInt8 = 4, weight: UInt8 = 1) {
    precondition(id < 64, "a channel's number is 0 to 63")
    precondition(priority < 8, "a channel's priority is 0 to 7")
    precondition(weight > 0, "a channel's weight is 1 or more")
    self.id = id
    self.delivery = delivery
    self.priority = priority
    self.weight = weight
  }

  /// Returns the send options of one message on this channel.
  func options(
    lifetime: Duration?, wantsReceipt: Bool = false, at now: @autoclosure () -> Instant
  ) -> SendOptions {
    var options = SendOptions(
      delivery, deadline: lifetime.map { now() + $0 }, wantsReceipt: wantsReceipt)
    options.plan = ChannelPlan(priority: priority, weight: weight)
    return options
  }
}
