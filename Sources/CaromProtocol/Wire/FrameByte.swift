/// The first bytes of frames. With the top bit a message: three bits of mode, four of channel.
enum FrameByte {
  static let padding: UInt8 = 0x00
  static let ping: UInt8 = 0x01
  static let acknowledgement: UInt8 = 0x02
  static let credit: UInt8 = 0x03

  /// A message; the modes 0 to 4 stand in the bits 4 to 6, then come these two.
  static let message: UInt8 = 0x80
  static let fragmentMode: UInt8 = 5
  static let nextMode: UInt8 = 6

  /// The channel bits that say that the channel has a byte of its own.
  static let channelFollows: UInt8 = 15

  /// The first byte of a message frame.
  static func message(_ mode: UInt8, _ channel: UInt8) -> UInt8 {
    message | mode << 4 | min(channel, channelFollows)
  }
}
