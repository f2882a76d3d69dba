/// What a peer speaks on a stream that it has opened, as its first three bytes show.
///
/// The first frame of a session has at most 4,096 bytes, and its length is sent lowest byte first,
/// so that the third byte is 0. The third byte of a TLS record and of an HTTP method is not.
enum StreamProtocol: Hashable, Sendable {
  case frames, tls, http

  /// The answer to a TLS handshake that the host does not accept: the fatal alert
  /// `handshake_failure` (RFC 8446 §6.2).
  static let tlsRefusal: [UInt8] = [0x15, 3, 1, 0, 2, 2, 40]

  /// The number of bytes that decide.
  static let prefixLength = 3

  /// Creates the protocol of a stream that begins with `bytes`, or nil if more are needed.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.prefixLength else { return nil }
    self = bytes[2] == 0 ? .frames : bytes[0] == 0x16 ? .tls : .http
  }
}
