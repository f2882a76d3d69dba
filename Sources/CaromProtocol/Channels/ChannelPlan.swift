/// A channel's priority and weight, which divide the bandwidth of a connection among its channels.
package struct ChannelPlan: Hashable, Sendable {
  /// The priority, from 0 (highest) to 7. A channel is served only while no channel with a lower
  /// `priority` value has anything to send.
  package var priority: UInt8
  /// The channel's share of the bandwidth, at least 1, relative to other channels of the same
  /// priority.
  package var weight: UInt8

  package init(priority: UInt8 = 4, weight: UInt8 = 1) {
    precondition(priority < ChannelLimits.priorities, "a priority is 0 to 7")
    precondition(weight > 0, "a weight is at least 1")
    self.priority = priority
    self.weight = weight
  }
}
