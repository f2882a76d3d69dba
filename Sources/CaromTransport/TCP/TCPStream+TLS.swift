import CaromCore

extension TCPStream {
  /// Whether TLS carries the stream's bytes.
  public var isTLS: Bool { tls != nil }

  /// Makes TLS, of which this side is the server, carry the stream's bytes from now on. Set a
  /// handler after that: `bytes` events have decrypted bytes, and begin when the handshake is
  /// complete; before, nothing can be written. If the handshake fails, the peer gets an alert, and
  /// the stream is closed.
  package func becomeTLS(_ certificate: TLSCertificate) throws(TransportError) {
    loop.preconditionCurrent("a stream")
    precondition(tls == nil && webSocket == nil, "TLS is the lowest layer of a stream")
    tls = TLSLink(try TLSSession(certificate), of: core, on: loop)
  }

  /// Handles bytes of the TLS connection that had been read before `becomeTLS`.
  package func receiveTLS(_ bytes: Span<UInt8>) {
    loop.preconditionCurrent("a stream")
    tls?.receive(bytes)
  }
}
