import CTLSClient

/// A TLS client without a socket.
@safe package final class TLSClient {
  /// The newest version of TLS that a client offers.
  package enum Version: CaseIterable, Sendable {
    case tls10, tls11, tls12, tls13

    fileprivate var c: tls_client_version {
      switch self {
      case .tls10: TLS_CLIENT_1_0
      case .tls11: TLS_CLIENT_1_1
      case .tls12: TLS_CLIENT_1_2
      case .tls13: TLS_CLIENT_1_3
      }
    }
  }

  private let client: OpaquePointer

  /// Creates a client, whose first bytes can be taken at once.
  package init(newest: Version = .tls13, offering name: String = "http/1.1") {
    unsafe client = tls_client_create(newest.c, name)!
  }

  deinit { unsafe tls_client_destroy(client) }

  package var isEstablished: Bool { unsafe tls_client_is_established(client) }
  package var hasProtocol: Bool { unsafe tls_client_has_protocol(client) }
  package var hasEnded: Bool { unsafe tls_client_has_ended(client) }

  /// Receives bytes from the server. Returns false if they end the connection as a failure.
  @discardableResult
  package func receive(_ bytes: [UInt8]) -> Bool {
    unsafe tls_client_receive(client, bytes, bytes.count)
  }

  package func write(_ bytes: [UInt8]) -> Bool {
    unsafe tls_client_write(client, bytes, bytes.count)
  }
  package func finish() { unsafe tls_client_finish(client) }
  package func changeKeys() { unsafe tls_client_change_keys(client) }

  /// Takes the bytes for the server.
  package func take() -> [UInt8] { collect { unsafe tls_client_take(client, $0, $1) } }

  /// Reads the decrypted bytes.
  package func read() -> [UInt8] { collect { unsafe tls_client_read(client, $0, $1) } }

  @safe private func collect(_ read: (UnsafeMutablePointer<UInt8>, Int) -> Int) -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let part = unsafe [UInt8](unsafeUninitializedCapacity: 16_384) {
        unsafe $1 = read($0.baseAddress!, $0.count)
      }
      if part.isEmpty { return all }
      all += part
    }
  }
}
