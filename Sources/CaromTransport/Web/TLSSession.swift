import CUVLoop
import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One side of a TLS connection (RFC 8446, RFC 5246), without input or output.
///
/// Unchecked: the loop that has the socket is the only one that uses the session. It moves to
/// another loop with the descriptor, through a mutex.
@safe package final class TLSSession: @unchecked Sendable {
  /// What the peer has done.
  package enum Status: Sendable {
    /// The peer may still send.
    case open
    /// The peer has ended its direction. This side may still send.
    case ended
    /// The peer has violated the protocol, or does not support what this side needs. Nothing more
    /// is read or sent, apart from the alert in the output.
    case failed
  }

  /// The maximum number of bytes that a client may send before the handshake is complete. A usual
  /// handshake takes less than 3,000.
  package static let handshakeLimit = 16 << 10
  /// The maximum number of bytes that a server may send before the handshake is complete: also the
  /// certificates of its issuers, and the names of authorities whose clients it accepts.
  package static let serverHandshakeLimit = 128 << 10

  private let tls: OpaquePointer
  private let handshakeLimit: Int
  /// Whether this side is the client.
  let isClient: Bool
  private var handshakeBytes = 0
  package private(set) var status = Status.open
  /// Whether the handshake was completed.
  package private(set) var isEstablished = false

  /// Creates the session of a new connection to this side, which is the server.
  package init(_ certificate: TLSCertificate) throws(TransportError) {
    var out: OpaquePointer?
    try check(unsafe cuv_tls_create(certificate.context, &out), "begin TLS")
    unsafe tls = out!
    (handshakeLimit, isClient) = (Self.handshakeLimit, false)
  }

  /// Creates the session of a new connection from this side, which is the client, to a server with
  /// a certificate for `host`, a name or an address. There is output at once.
  package init(to host: String, trusting trust: TLSTrust) throws(TransportError) {
    let isAddress = IPAddress(host) != nil
    // The dot at the end of a complete name is no part of names in certificates.
    let name = host.last == "." ? String(host.dropLast()) : host
    var out: OpaquePointer?
    try check(unsafe cuv_tls_create_client(trust.context, name, isAddress, &out), "begin TLS")
    unsafe tls = out!
    (handshakeLimit, isClient) = (Self.serverHandshakeLimit, true)
  }

  /// Why the status is `failed`; nil if it is another one.
  package var failure: TLSFailure? {
    guard status == .failed else { return nil }
    return TLSFailure(fault: unsafe cuv_tls_fault(tls))
  }

  deinit { unsafe cuv_tls_destroy(tls) }

  /// Handles bytes that were received, which may add to the output, and returns what they say.
  /// Bytes after the end are ignored.
  package func receive(_ bytes: Span<UInt8>) -> [UInt8] {
    guard status == .open else { return [] }
    guard !isEstablished else { return read(bytes) }
    let count = min(bytes.count, handshakeLimit - handshakeBytes)
    handshakeBytes += count
    let first = read(bytes.extracting(first: count))
    guard count < bytes.count, status == .open else { return first }
    guard isEstablished else {
      status = .failed
      return []
    }
    return first + read(bytes.extracting(count..<bytes.count))
  }

  private func read(_ bytes: Span<UInt8>) -> [UInt8] {
    var plaintext: [UInt8] = []
    unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe cuv_tls_feed(tls, buffer.baseAddress, buffer.count)
      var result: CInt = 1
      while result == 1 {
        let part = unsafe [UInt8](unsafeUninitializedCapacity: max(64, buffer.count)) {
          unsafe result = cuv_tls_read(tls, $0.baseAddress!, $0.count, &$1)
        }
        if plaintext.isEmpty { plaintext = part } else { plaintext += part }
      }
      if !isEstablished { isEstablished = unsafe cuv_tls_is_established(tls) }
      if result < 0 { status = result == -ESHUTDOWN ? .ended : .failed }
      unsafe cuv_tls_feed(tls, nil, 0)
    }
    return plaintext
  }

  /// Encrypts bytes and adds them to the output. Returns false, and adds nothing, before the
  /// handshake is complete and after a failure.
  package func write(_ bytes: Span<UInt8>) -> Bool {
    guard status != .failed else { return false }
    return unsafe bytes.withUnsafeBufferPointer {
      unsafe cuv_tls_write(tls, $0.baseAddress, $0.count) == 0
    }
  }

  /// Adds the end of this side's direction to the output.
  package func finish() { if status != .failed { unsafe cuv_tls_finish(tls) } }

  /// Passes the output, the bytes to send, to `body` unless there are none, and removes them.
  package func removeOutput<Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    var count = 0
    guard let bytes = unsafe cuv_tls_output(tls, &count), count > 0 else { return }
    defer { unsafe cuv_tls_clear_output(tls) }
    try body(unsafe Span(_unsafeStart: bytes, count: count))
  }
}
