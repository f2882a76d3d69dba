import CaromCodec
import CaromCore
import CaromProtocol
import CaromTransport
import Testing

@testable import air_hockey

/// A client that joins a host and then misbehaves.
actor FakeClient: LoopActor {
  nonisolated let loop: NetworkLoop
  private var stream: TCPStream?
  private var granted: CheckedContinuation<Void, Never>?

  private init(on loop: NetworkLoop) { self.loop = loop }

  /// Runs `body` with a client that has joined the host at a port on loopback.
  static func run(
    named name: String, at port: UInt16, _ body: (FakeClient) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      let client = FakeClient(on: loop)
      try await client.join(named: name, at: port)
      try await body(client)
    }
  }

  private func join(named name: String, at port: UInt16) async throws {
    let stream = try await TCPStream.connect(to: [Endpoint(.loopback4, port: port)], on: loop)
    self.stream = stream
    let info = PeerInfo(
      id: PeerID(high: 1, low: 2), name: name, application: GameWire.application,
      applicationVersion: GameWire.version)
    let request = ControlPacket.request(version: SessionWire.version, .none, info)
    try stream.write(request.packet.framed())
    await withCheckedContinuation { continuation in
      granted = continuation
      stream.setHandler(owner: self) { client, event in
        guard case .bytes = event else { return }
        client.granted?.resume()
        client.granted = nil
      }
    }
  }

  /// Closes the sending direction without a goodbye.
  func hangUp() { stream?.shutdownWrite() }

  /// Resets the connection.
  func reset() { stream?.reset() }

  /// Sends bytes that violate the protocol.
  func violateProtocol() throws { try stream?.write(Array("GET / HTTP/1.1\r\n\r\n".utf8)) }
}
