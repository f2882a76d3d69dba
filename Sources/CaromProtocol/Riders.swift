/// Small reliable messages that ride again on the next packets while nothing is known of them.
struct Riders: Sendable {
  struct Rider: Sendable, BitwiseCopyable {
    var channel: UInt8
    var mode: MessageMode
    var rides: UInt8
    /// The packet that it left in first.
    var packet: UInt64
    var number: UInt64
  }

  private var riders = Ring<Rider>()

  var count: Int { riders.count }

  mutating func add(_ number: UInt64, channel: UInt8, mode: MessageMode, packet: UInt64) {
    if riders.count == ChannelLimits.riders { riders.popFirst() }
    riders.append(
      Rider(channel: channel, mode: mode, rides: 0, packet: packet, number: number))
  }

  mutating func popFirst() -> Rider? { riders.popFirst() }
  mutating func append(_ rider: Rider) { riders.append(rider) }
  mutating func removeAll() { riders.removeAll() }
}
