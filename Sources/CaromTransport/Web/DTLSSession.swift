import CUVLoop
import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A key and a certificate for it that nobody else has signed. Peers recognize it by its hash.
///
/// Unchecked: OpenSSL allows several threads to use the context, which is not changed after `init`.
@safe package final class DTLSIdentity: @unchecked Sendable {
  /// The SHA-256 hash of the certificate.
  package let fingerprint: [UInt8]
  fileprivate let context: OpaquePointer

  /// Makes a new key.
  package init() throws(TransportError) {
    var out: OpaquePointer?
    var hash = [UInt8](repeating: 0, count: Int(CUV_DTLS_FINGERPRINT))
    try check(unsafe cuv_dtls_identity_create(&hash, &out), "make a certificate")
    unsafe context = out!
    fingerprint = hash
  }

  deinit { unsafe cuv_dtls_identity_destroy(context) }
}

/// One side of a DTLS 1.2 connection (RFC 6347), without input or output.
///
/// Not `Sendable`: it belongs to the loop whose socket carries its datagrams.
@safe package final class DTLSSession {
  /// What has become of the connection.
  package enum Status: Sendable {
    /// Datagrams can be received and, once the handshake is complete, sent.
    case open
    /// The peer has ended the connection, or the handshake has failed. A last datagram for the peer
    /// may be in the output.
    case ended
  }

  /// The maximum number of bytes that are encrypted as one record.
  package static let recordLimit = 2_048
  /// The maximum number of bytes that a peer may send before the handshake is complete. A usual
  /// handshake takes less than 2,000.
  private static let handshakeLimit = 64 << 10

  private let dtls: OpaquePointer
  private var handshakeBytes = 0
  package private(set) var status = Status.open
  /// Whether the handshake is complete.
  package private(set) var isEstablished = false

  /// Creates one side of a connection. The client's side has output at once.
  package init(_ identity: DTLSIdentity, isClient: Bool = false) throws(TransportError) {
    var out: OpaquePointer?
    try check(unsafe cuv_dtls_create(identity.context, isClient, &out), "begin DTLS")
    unsafe dtls = out!
  }

  deinit { unsafe cuv_dtls_destroy(dtls) }

  /// The SHA-256 hash of the peer's certificate; nil if the peer has shown none.
  package var peerFingerprint: [UInt8]? {
    var hash = [UInt8](repeating: 0, count: Int(CUV_DTLS_FINGERPRINT))
    return unsafe cuv_dtls_peer_fingerprint(dtls, &hash) ? hash : nil
  }

  /// Handles a datagram, which may add to the output. Passes each of the decrypted records in it to
  /// `body`, using `buffer`, which must hold the longest one.
  package func receive(
    _ datagram: Span<UInt8>, using buffer: inout [UInt8], _ body: (Span<UInt8>) -> Void
  ) {
    guard status == .open, !datagram.isEmpty else { return }
    if !isEstablished {
      handshakeBytes += datagram.count
      guard handshakeBytes <= Self.handshakeLimit else {
        status = .ended
        return
      }
    }
    unsafe datagram.withUnsafeBufferPointer { input in
      unsafe cuv_dtls_feed(dtls, input.baseAddress, input.count)
      var result: CInt = 1
      while result == 1 {
        var count = 0
        unsafe result = cuv_dtls_read(dtls, &buffer, buffer.count, &count)
        if result == 1 { body(buffer.span.extracting(0..<count)) }
      }
      unsafe cuv_dtls_feed(dtls, nil, 0)
      if result < 0 { status = .ended }
    }
    if !isEstablished { isEstablished = unsafe cuv_dtls_is_established(dtls) }
  }

  /// Encrypts a record, and adds it to the output as one datagram. Does nothing before the
  /// handshake is complete or after the end.
  package func send(_ record: Span<UInt8>) {
    guard status == .open, isEstablished, !record.isEmpty else { return }
    unsafe record.withUnsafeBufferPointer {
      _ = unsafe cuv_dtls_write(dtls, $0.baseAddress!, $0.count)
    }
  }

  /// Adds the end of the connection to the output.
  package func finish() {
    guard status == .open else { return }
    unsafe cuv_dtls_finish(dtls)
    status = .ended
  }

  /// The time after which `handleTimeout` has to be called; nil if none is needed.
  package var timeout: Duration? {
    guard status == .open, !isEstablished else { return nil }
    let milliseconds = unsafe cuv_dtls_timeout(dtls)
    return milliseconds < 0 ? nil : .milliseconds(milliseconds)
  }

  /// Adds messages of the handshake that the peer has not answered to the output again, if that is
  /// due.
  package func handleTimeout() {
    guard status == .open else { return }
    if unsafe cuv_dtls_handle_timeout(dtls) < 0 { status = .ended }
  }

  /// Passes each datagram of the output to `body`, and removes them.
  package func removeOutput(_ body: (Span<UInt8>) -> Void) {
    var (offset, count) = (0, 0)
    while let bytes = unsafe cuv_dtls_output(dtls, &offset, &count) {
      body(unsafe Span(_unsafeStart: bytes, count: count))
    }
    if offset > 0 { unsafe cuv_dtls_clear_output(dtls) }
  }
}
