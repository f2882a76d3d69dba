/// What the peer lets a channel send.
struct SendCredit: Sendable, BitwiseCopyable {
  /// What has left, charges included.
  var sent: UInt64 = 0
  /// How much may ever leave.
  var limit = UInt64(ChannelLimits.window)

  var left: Int { Int(clamping: limit - sent) }
}
