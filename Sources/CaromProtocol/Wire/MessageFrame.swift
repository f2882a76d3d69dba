/// A message or a fragment of one in a received packet. The payload is not copied.
package struct MessageFrame: ~Escapable, BitwiseCopyable {
  /// The maximum length of a message, in bytes: 1 MiB.
  package static let maximumMessage = 1 << 20
  /// The channel of the session's own messages. The application's channels all have lower numbers.
  package static let sessionChannel: UInt8 = 64

  package let delivery: Delivery
  /// The message's channel, 0 to 64.
  package let channel: UInt8
  /// The low 16 bits of the message's number; 0 for a whole message with `Delivery.unreliable`.
  package let number: UInt16
  /// Whether the frame is a fragment. True even if the fragment contains the whole message.
  package let isFragment: Bool
  /// The length of the whole message in bytes, at most `maximumMessage`.
  package let total: Int
  /// The offset of `payload` in the message, in bytes.
  package let offset: Int
  /// The bytes of the message that the frame contains, starting at `offset`. A fragment contains at
  /// least one byte.
  package let payload: Span<UInt8>

  /// Whether the frame contains a whole pong: an unreliable message on the session's channel that
  /// begins with the type of a control packet and the action of a pong.
  var isPong: Bool {
    channel == Self.sessionChannel && delivery == .unreliable && !isFragment
      && payload.count >= 4
      && payload[0] == UInt8(SessionWire.controlType) && payload[1] == 0
      && payload[2] == UInt8(SessionWire.Action.pong.rawValue) && payload[3] == 0
  }

  @_lifetime(copy payload)
  init(delivery: Delivery, channel: UInt8, number: UInt16, payload: Span<UInt8>) {
    self.delivery = delivery
    self.channel = channel
    self.number = number
    isFragment = false
    total = payload.count
    offset = 0
    self.payload = payload
  }

  @_lifetime(copy payload)
  init(
    fragmentOf total: Int, at offset: Int, delivery: Delivery, channel: UInt8, number: UInt16,
    payload: Span<UInt8>
  ) {
    self.delivery = delivery
    self.channel = channel
    self.number = number
    isFragment = true
    self.total = total
    self.offset = offset
    self.payload = payload
  }
}
