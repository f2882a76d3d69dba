import CaromCore

/// The key exchange of a WebSocket's opening handshake (RFC 6455 §4.2.2), which shows a client that
/// the server has understood its request. It has nothing to do with security.
package enum WebSocketKey {
  /// The text that RFC 6455 §1.3 appends to a key.
  private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// Returns the value of `Sec-WebSocket-Accept` for a value of `Sec-WebSocket-Key`, or nil if that
  /// is not the Base64 form of 16 bytes.
  package static func makeAnswer(to key: String) -> String? {
    guard Base64.standard.bytes(of: key.utf8)?.count == 16 else { return nil }
    var hash = SHA1()
    for byte in (key + suffix).utf8 { hash.absorb(byte) }
    let answer = hash.finish()
    return Base64.standard.text(of: answer.indices.map { answer[$0] })
  }
}
