import CaromCore

/// An invitation, as it is sent.
package struct InvitationRequest: Hashable, Sendable {
  /// The maximum length of a context, in bytes.
  package static let maximumContextLength = 4096
  /// The longest time for which an invitation can be open.
  package static let maximumTimeout = Duration.seconds(24 * 60 * 60)

  /// The invitation's number, which its sender has chosen; unique on the connection.
  package var number: UInt32
  /// The time for which the sender waits for an answer, in milliseconds.
  package var milliseconds: UInt64
  /// What the application of the sender wants the invited peer to know: at most 4,096 bytes.
  package var context: [UInt8]

  package init(number: UInt32, timeout: Duration, context: [UInt8]) {
    self.number = number
    let limited = max(.zero, min(timeout, Self.maximumTimeout))
    milliseconds = UInt64(limited.wholeNanoseconds / 1_000_000)
    self.context = context
  }

  /// The time for which the sender waits for an answer.
  package var timeout: Duration { .milliseconds(Int64(milliseconds)) }
}

/// The answer to an invitation.
package enum InvitationAnswer: UInt8, Hashable, Sendable {
  case accepted = 0
  case declined = 1
  /// The invited peer has too many open invitations to ask its user.
  case busy = 2
}

extension InvitationRequest: PacketCodable {
  /// Appends the number, the time in milliseconds as a VarInt, and the context with its length.
  package func encode(into writer: inout PacketWriter) {
    writer.write(number)
    writer.writeVarInt(milliseconds)
    writer.writeVarInt(UInt64(context.count))
    writer.write(context)
  }

  /// Reads an invitation. Throws if the time or the context is over its limit.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    number = try reader.read()
    milliseconds = try reader.readVarInt()
    let longest = UInt64(Self.maximumTimeout.wholeNanoseconds / 1_000_000)
    guard milliseconds <= longest else {
      throw .tooLarge(length: milliseconds, limit: longest)
    }
    let length = try reader.readVarInt()
    let limit = UInt64(Self.maximumContextLength)
    guard length <= limit else { throw .tooLarge(length: length, limit: limit) }
    context = try reader.readBytes(Int(length))
  }
}
