import CaromCore

/// A host's answer to somebody whose address is not proven: say this back.
package struct Retry: Hashable, Sendable {
  /// The most bytes that a retry has.
  package static let maximumLength = 17

  package var cookie: Cookie
  /// The first half of the hello's key; `nil` where it answers a data packet.
  package var keyPrefix: UInt64?

  package init(cookie: Cookie, keyPrefix: UInt64?) {
    self.cookie = cookie
    self.keyPrefix = keyPrefix
  }

  /// Reads what stands behind the first byte.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let cookie = Cookie(bits: try reader.read()) else {
      throw .invalid(what: "retry: no cookie")
    }
    self.cookie = cookie
    if reader.remaining > 0 { keyPrefix = try reader.read(UInt64.self) }
    try reader.finish()
  }

  /// Appends the retry.
  package func write(to writer: inout FrameWriter) {
    writer.append(SessionDatagram.retryByte)
    writer.append(integer: cookie.bits)
    if let keyPrefix { writer.append(integer: keyPrefix) }
  }
}
