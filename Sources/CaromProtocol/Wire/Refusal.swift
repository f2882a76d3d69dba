import CaromCore

/// A host's refusal of a hello: the connection to resume does not exist, or the host does not
/// accept a connection from this initiator.
package struct Refusal: Hashable, Sendable {
  /// The length of a refusal in bytes, without a tag.
  package static let length = 10

  /// The first half of the refused hello's key.
  package var keyPrefix: UInt64
  /// The reason for the refusal: the raw value of a `Goodbye.Code`.
  package var reason: UInt8
  /// The value that the host gave the initiator with its grant, which proves that the refusal comes
  /// from the host; nil in plaintext.
  package var tag: AuthenticationTag?

  package init(keyPrefix: UInt64, reason: UInt8, tag: AuthenticationTag? = nil) {
    self.keyPrefix = keyPrefix
    self.reason = reason
    self.tag = tag
  }

  /// Creates a refusal from the bytes that follow its first byte.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    keyPrefix = try reader.read()
    reason = try reader.read()
    guard Goodbye.Code(rawValue: reason) != nil else { throw .invalid(what: "refusal: reason") }
    if reader.remaining > 0 { tag = try AuthenticationTag(decoding: &reader) }
    try reader.finish()
  }

  /// The maximum length of a refusal in bytes.
  package static let maximumLength = length + AuthenticationTag.length

  /// Appends the refusal.
  package func write(to writer: inout FrameWriter) {
    writer.append(SessionDatagram.refusalByte)
    writer.append(integer: keyPrefix)
    writer.append(reason)
    tag?.write(to: &writer)
  }
}
