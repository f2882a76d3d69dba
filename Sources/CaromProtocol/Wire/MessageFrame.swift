/// A message in a packet, or a piece of one; its bytes stay where they lie.
package struct MessageFrame: ~Escapable {
  /// The largest message, bytes: 1 MiB.
  package static let maximumMessage = 1 << 20
  /// The channel of the session's own messages; the application's are below.
  package static let sessionChannel: UInt8 = 64

  package let delivery: Delivery
  /// 0 ... 64.
  package let channel: UInt8
  /// The message's number, its lowest 16 bits; 0 for a whole message in the mode `unreliable`.
  package let number: UInt16
  /// Whether it is a piece, though it may be the only one.
  package let isFragment: Bool
  /// How many bytes the whole message has, `maximumMessage` at most.
  package let total: Int
  /// Where in the message `payload` begins.
  package let offset: Int
  /// The bytes, which end within the message; those of a fragment are one at least.
  package let payload: Span<UInt8>

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
    pieceOf total: Int, at offset: Int, delivery: Delivery, channel: UInt8, number: UInt16,
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
