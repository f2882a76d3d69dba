// The frames of a packet by their first byte (WireFormat, "Frames"):
//
//   0x00         padding: zeros to the packet's end
//   0x01         ping: elicits an acknowledgement
//   0x02         acknowledgement: largest number, delay, ranges
//   0x03         credit: channel, limit
//   0x04...0x7F  not valid
//   0x80...0xFF  a message: 0x80 | mode << 4 | channel
//                  modes 0 to 4  a whole message; the mode is its `Delivery`
//                  mode 5        a fragment of a message
//                  mode 6        the next message: same channel and delivery as the message before
//                                it in the packet, and that message's number plus 1
//                  mode 7        not valid
//                channel bits 0 to 14 are the channel; 15 means that the channel's number, 15 to
//                64, follows as one byte (in mode 6 no channel byte follows)

/// The values and bits of the first byte of a frame.
enum FrameByte {
  static let padding: UInt8 = 0x00
  static let ping: UInt8 = 0x01
  static let acknowledgement: UInt8 = 0x02
  static let credit: UInt8 = 0x03

  /// The bit that marks a message.
  static let message: UInt8 = 0x80
  static let fragmentMode: UInt8 = 5
  static let nextMode: UInt8 = 6

  /// The value of the channel bits if the channel's number follows in a byte of its own.
  static let channelFollows: UInt8 = 15

  /// Returns the first byte of a message frame.
  static func message(_ mode: UInt8, _ channel: UInt8) -> UInt8 {
    message | mode << 4 | min(channel, channelFollows)
  }
}

/// One frame of a packet.
package enum Frame: ~Escapable, BitwiseCopyable {
  /// A message or a fragment of one.
  case message(MessageFrame)
  /// A ping: a frame without content that elicits an acknowledgement.
  case ping
  /// An acknowledgement: reports which packets the sender of the frame received.
  /// `FrameReader.next(ranges:)` stores the ranges of packet numbers in its argument.
  case acknowledgement(AckDelay)
  /// A credit: sets the total number of bytes of reliable messages that the receiver of the frame
  /// may ever send on a channel.
  case credit(channel: UInt8, limit: UInt64)
  /// Padding: the given number of zero bytes, up to the packet's end.
  case padding(Int)

  /// Whether a carrier with this frame elicits an acknowledgement (RFC 9000 §1.2).
  package var isAckEliciting: Bool {
    switch self {
    case .message, .ping, .credit: true
    case .acknowledgement, .padding: false
    }
  }

  /// Whether a data packet with this frame elicits an acknowledgement. It differs from a carrier in
  /// pongs: a side that gets no pong pings again, so nobody needs to know whether a pong arrived.
  var elicitsAckOfPacket: Bool {
    if case .message(let message) = self, message.isPong { false } else { isAckEliciting }
  }
}
