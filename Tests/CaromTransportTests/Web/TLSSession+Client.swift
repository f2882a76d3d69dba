import TestTLS

@testable import CaromTransport

extension TLSSession {
  func receive(_ bytes: [UInt8]) -> [UInt8] { receive(bytes.span) }
  func write(_ bytes: [UInt8]) -> Bool { write(bytes.span) }

  func takeOutput() -> [UInt8] {
    var output: [UInt8] = []
    removeOutput { output = Array(copying: $0) }
    return output
  }

  /// Does the whole handshake with a client.
  func meet(_ client: TLSClient) {
    while status == .open, !(client.isEstablished && isEstablished) {
      let (first, second) = (client.take(), takeOutput())
      if first.isEmpty, second.isEmpty { return }
      _ = receive(first)
      client.receive(second + takeOutput())
    }
  }
}
