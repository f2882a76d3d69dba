import CaromCore

/// A host's answer to a hello that it will not take up: there is no such connection, or none for
/// this caller.
package struct Refusal: Hashable, Sendable {
  /// How many bytes it has.
  package static let length = 10

  /// The first half of the hello's key.
  package var keyPrefix: UInt64
  /// Why; the session's reasons have their numbers elsewhere.
  package var reason: UInt8

  package init(keyPrefix: UInt64, reason: UInt8) {
    self.keyPrefix = keyPrefix
    self.reason = reason
  }

  /// Reads what stands behind the first byte.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    keyPrefix = try reader.read()
    reason = try reader.read()
    try reader.finish()
  }

  /// Appends it.
  package func write(to writer: inout FrameWriter) {
    writer.append(SessionDatagram.refusalByte)
    writer.append(integer: keyPrefix)
    writer.append(reason)
  }
}
