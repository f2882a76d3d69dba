import CaromCore

/// A host's answer to an unvalidated endpoint, which must return the cookie to prove its address.
package struct Retry: Hashable, Sendable {
  /// The maximum length of a retry, in bytes.
  package static let maximumLength = 17

  package var cookie: Cookie
  /// The first half of the hello's key, or nil if the retry answers a data packet or a hello that
  /// contained a cookie.
  package var keyPrefix: UInt64?

  package init(cookie: Cookie, keyPrefix: UInt64?) {
    self.cookie = cookie
    self.keyPrefix = keyPrefix
  }

  /// Creates a retry from the bytes that follow its first byte.
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
