/// One frame of a packet.
package enum Frame: ~Escapable {
  /// A message or a piece of one.
  case message(MessageFrame)
  /// Asks for an acknowledgement and carries nothing.
  case ping
  /// What came of this side's packets; the ranges were put where `next(ranges:)` was told to.
  case acknowledgement(AckDelay)
  /// How many bytes of reliable messages may ever be sent on the channel.
  case credit(channel: UInt8, limit: UInt64)
  /// Zeros to the packet's end, that many bytes.
  case padding(Int)

  /// Whether a packet with such a frame wants to be acknowledged.
  package var isAckEliciting: Bool {
    switch self {
    case .message, .ping, .credit: true
    case .acknowledgement, .padding: false
    }
  }
}
