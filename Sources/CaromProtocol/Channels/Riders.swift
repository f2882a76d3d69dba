import CaromCore

/// Small reliable messages that ride again on the next packets while nothing is known of them.
struct Riders: Sendable {
  struct Rider: Sendable, BitwiseCopyable {
    var channel: UInt8
    var delivery: Delivery
    /// How often it may ride yet.
    var rides: UInt8
    /// The packet that it left in first.
    var packet: UInt64
    var number: UInt64
  }

  private var riders = Deque<Rider>()
  /// The part of a ride that the last packet with small messages left to the next.
  var leftover = 0.0

  var count: Int { riders.count }

  mutating func add(
    _ number: UInt64, channel: UInt8, delivery: Delivery, rides: Int, packet: UInt64
  ) {
    if riders.count == ChannelLimits.riders { riders.popFirst() }
    riders.append(
      Rider(
        channel: channel, delivery: delivery, rides: UInt8(clamping: rides), packet: packet,
        number: number))
  }

  mutating func popFirst() -> Rider? { riders.popFirst() }
  mutating func append(_ rider: Rider) { riders.append(rider) }
  mutating func removeAll() { riders.removeAll() }
}
