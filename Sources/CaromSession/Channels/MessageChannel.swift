import CaromCore
import CaromProtocol

/// A numbered channel of a connection, declared once with the type of its messages and their
/// delivery.
///
/// ```swift
/// extension MessageChannel<Goal> { static var goals: Self { .init(0, .reliableOrdered) } }
/// ```
///
/// The type is `PacketCodable`, which defines its own wire format, or any `Codable & Sendable`
/// type, which is sent as CBOR. A type that is both is sent in its own format.
public struct MessageChannel<Message: Sendable>: Sendable {
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
  @usableFromInline let coding: any MessageCoding<Message>.Type

  @inlinable init(
    _ id: UInt8, _ delivery: Delivery, priority: UInt8, weight: UInt8,
    coding: any MessageCoding<Message>.Type
  ) {
    precondition(id < 64, "a channel's number is 0 to 63")
    precondition(priority < 8, "a channel's priority is 0 to 7")
    precondition(weight > 0, "a channel's weight is 1 or more")
    self.id = id
    self.delivery = delivery
    self.priority = priority
    self.weight = weight
    self.coding = coding
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

  /// Returns the message in its wire format. Throws `notEncodable` if encoding the message throws
  /// an error, and `tooLarge` if it is a text of more than `String.maximumEncodedLength` bytes.
  func encoded(_ message: Message) throws(SendError) -> [UInt8] {
    var writer = PacketWriter()
    try coding.encode(message, into: &writer)
    return writer.bytes
  }
}

extension MessageChannel where Message: PacketCodable {
  /// Creates a channel with the number `id`. The application chooses the numbers of its channels,
  /// from 0 to 63.
  @inlinable public init(
    _ id: UInt8, _ delivery: Delivery, priority: UInt8 = 4, weight: UInt8 = 1
  ) {
    self.init(
      id, delivery, priority: priority, weight: weight, coding: PacketCoding<Message>.self)
  }
}

extension MessageChannel where Message: Codable {
  /// Creates a channel with the number `id`, whose messages are sent as CBOR, with the names of
  /// their properties. A message whose `encode(to:)` throws is not sent: `send` throws
  /// `SendError.notEncodable`.
  @inlinable public init(
    _ id: UInt8, _ delivery: Delivery, priority: UInt8 = 4, weight: UInt8 = 1
  ) {
    self.init(id, delivery, priority: priority, weight: weight, coding: CBORCoding<Message>.self)
  }
}

extension MessageChannel where Message: PacketCodable & Codable {
  /// Creates a channel with the number `id`, whose messages are sent in the wire format that their
  /// type defines, and not as CBOR.
  @inlinable public init(
    _ id: UInt8, _ delivery: Delivery, priority: UInt8 = 4, weight: UInt8 = 1
  ) {
    self.init(
      id, delivery, priority: priority, weight: weight, coding: PacketCoding<Message>.self)
  }
}

extension MessageChannel: Hashable {
  /// Returns whether two channels have the same number, delivery, priority and weight.
  public static func == (a: MessageChannel, b: MessageChannel) -> Bool {
    (a.id, a.delivery, a.priority, a.weight) == (b.id, b.delivery, b.priority, b.weight)
  }

  /// Hashes the channel's number and delivery.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(delivery)
  }
}
