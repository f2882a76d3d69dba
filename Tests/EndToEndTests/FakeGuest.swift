import CaromCodec
import CaromCore
import CaromProtocol
import CaromTransport
import Testing

@testable import air_hockey

/// A guest that sits down, and then does what no well-behaved one does.
actor FakeGuest: LoopActor {
  nonisolated let loop: NetworkLoop
  private var stream: TCPStream?
  private var granted: CheckedContinuation<Void, Never>?

  private init(on loop: NetworkLoop) { self.loop = loop }

  /// Runs `body` with one that has a seat at the table on a port of loopback.
  static func run(
    named name: String, at port: UInt16, _ body: (FakeGuest) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      let guest = FakeGuest(on: loop)
      try await guest.sitDown(named: name, at: port)
      try await body(guest)
    }
  }

  private func sitDown(named name: String, at port: UInt16) async throws {
    let stream = try await TCPStream.connect(to: [Endpoint(.loopback4, port: port)], on: loop)
    self.stream = stream
    let info = PeerInfo(
      id: PeerID(high: 1, low: 2), name: name, application: GameWire.application,
      applicationVersion: GameWire.version)
    let request = ControlPacket.request(version: SessionWire.version, .none, info)
    try stream.write(request.packet.framed())
    await withCheckedContinuation { continuation in
      granted = continuation
      stream.setHandler(owner: self) { guest, event in
        guard case .bytes = event else { return }
        guest.granted?.resume()
        guest.granted = nil
      }
    }
  }

  /// Ends its side without a goodbye.
  func hangUp() { stream?.shutdownWrite() }

  /// Drops the connection.
  func reset() { stream?.reset() }

  /// Says what no protocol knows.
  func babble() throws { try stream?.write(Array("GET / HTTP/1.1\r\n\r\n".utf8)) }
}
