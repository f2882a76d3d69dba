import CUVLoop
import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The server's side of a TLS connection (RFC 8446, RFC 5246), without input or output.
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

  /// The maximum number of bytes that a peer may send before the handshake is complete. A usual
  /// handshake takes less than 3,000.
  package static let handshakeLimit = 16 << 10

  private let tls: OpaquePointer
  private var handshakeBytes = 0
  package private(set) var status = Status.open
  /// Whether the handshake was completed.
  package private(set) var isEstablished = false

  /// Creates the session of a new connection.
  package init(_ certificate: TLSCertificate) throws(TransportError) {
    var out: OpaquePointer?
    try check(unsafe cuv_tls_create(certificate.context, &out), "begin TLS")
    unsafe tls = out!
  }

  deinit { unsafe cuv_tls_destroy(tls) }

  /// Handles bytes that were received, which may add to the output, and returns what they say.
  /// Bytes after the end are ignored.
  package func receive(_ bytes: Span<UInt8>) -> [UInt8] {
    guard status == .open else { return [] }
    guard !isEstablished else { return read(bytes) }
    let count = min(bytes.count, Self.handshakeLimit - handshakeBytes)
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
