/// The messages that the application can read in place, in the datagrams that contain them. A
/// message is read in place only if it need not wait for an older message and its reader is not
/// behind.
///
/// The owner of a host passes the same value along with every datagram of a batch, then reads the
/// messages in order.
package struct Arrivals: Sendable {
  /// A message in a datagram.
  package struct Message: Sendable, BitwiseCopyable {
    package let connection: UInt64
    /// The index of the datagram in its batch; -1 if the datagram was encrypted. The message then
    /// lies in the host's buffer of decrypted packets.
    package let datagram: Int32
    /// The offset of the message in the datagram or the buffer, in bytes.
    package let offset: Int32
    package let length: Int32
    package let channel: UInt8
    package let delivery: Delivery
  }

  package private(set) var messages: [Message] = []
  /// The channels whose messages may be added. If the set is empty, all messages are stored in
  /// their connections.
  package var channels = ChannelMask()
  /// The index of the datagram that is received next.
  package var datagram = 0
  /// The number of the connection to which the datagram belongs; 0 if its messages must be stored.
  var connection: UInt64 = 0
  /// Whether the current datagram was encrypted.
  var isOpened = false

  package init() {}

  /// Removes all messages.
  package mutating func removeAll() { messages.removeAll(keepingCapacity: true) }

  /// Adds a message that begins at `offset` of the current datagram.
  mutating func append(
    _ delivery: Delivery, _ channel: UInt8, at offset: Int, length: Int
  ) {
    messages.append(
      Message(
        connection: connection, datagram: isOpened ? -1 : Int32(truncatingIfNeeded: datagram),
        offset: Int32(truncatingIfNeeded: offset), length: Int32(truncatingIfNeeded: length),
        channel: channel, delivery: delivery))
  }
}
