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

  /// Makes TLS, of which this side is the client, carry the stream's bytes from now on, to a server
  /// with a certificate for `host`, a name or an address. Set a handler after that: `writable`
  /// tells that the handshake is complete; before, nothing can be written. If it fails, `end` or
  /// `closed` follows, and `tlsFailure` says why.
  package func becomeTLSClient(
    to host: String, trusting trust: TLSTrust
  ) throws(TransportError) {
    loop.preconditionCurrent("a stream")
    precondition(tls == nil && webSocket == nil, "TLS is the lowest layer of a stream")
    let link = TLSLink(try TLSSession(to: host, trusting: trust), of: core, on: loop)
    tls = link
    try link.flush()
  }

  /// Why TLS has failed; nil if it has not.
  package var tlsFailure: TLSFailure? { tls?.session.failure }

  /// Handles bytes of the TLS connection that had been read before `becomeTLS`.
  package func receiveTLS(_ bytes: Span<UInt8>) {
    loop.preconditionCurrent("a stream")
    tls?.receive(bytes)
  }
}
