import CaromCore

/// A message of a datagram path's handshake. Each message from the initiator follows a hello in the
/// same datagram; the responder's message is a datagram of its own.
package struct HandshakePart: Hashable, Sendable {
  /// The length in bytes of everything except the message, if that is shorter than 128 bytes.
  package static let headLength = 11
  /// The maximum length of a message in bytes. The longest messages contain the ticket of a connect
  /// token.
  package static let maximumMessage = 1023

  /// The number of the message in the handshake: 1 and 3 are the initiator's, 2 the responder's.
  package var number: UInt8
  /// The first half of the connection's key.
  package var keyPrefix: UInt64
  package var message: [UInt8]

  /// The length of the part in bytes.
  package var length: Int {
    Self.headLength - 1 + VarInt.length(of: UInt64(message.count)) + message.count
  }
  /// The role of the side that sends the message.
  package var sender: PathRole { number == 2 ? .responder : .initiator }

  package init(number: UInt8, keyPrefix: UInt64, message: [UInt8]) {
    precondition(message.count <= Self.maximumMessage, "a handshake message is too long")
    self.number = number
    self.keyPrefix = keyPrefix
    self.message = message
  }

  /// Creates a part from the bytes that follow its first byte. Another part of the datagram, such
  /// as a data packet, may remain in `reader`.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    number = try reader.read()
    guard (1...3).contains(number) else { throw .invalid(what: "handshake: number") }
    keyPrefix = try reader.read()
    let length = try reader.readVarInt()
    guard length <= Self.maximumMessage else {
      throw .tooLarge(length: length, limit: UInt64(Self.maximumMessage))
    }
    message = try reader.readBytes(Int(length))
  }

  /// Appends the part.
  package func write(to writer: inout FrameWriter) {
    writer.append(SessionDatagram.handshakeByte)
    writer.append(number)
    writer.append(integer: keyPrefix)
    writer.append(varInt: UInt64(message.count))
    writer.append(copying: message.span)
  }
}
