/// A channel's share of the connection.
package struct ChannelPlan: Hashable, Sendable {
  /// 0 to 7: a level is served when all before it have nothing to send.
  package var level: UInt8
  /// Its share among the channels of its level, 1 or more.
  package var weight: UInt8

  package init(level: UInt8 = 4, weight: UInt8 = 1) {
    precondition(level < ChannelLimits.levels, "a level is 0 to 7")
    precondition(weight > 0, "a weight is 1 or more")
    self.level = level
    self.weight = weight
  }
}
