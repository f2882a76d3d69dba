import CaromCore
import CaromProtocol
import CaromTransport

/// A peer that sends a request on a bare stream, so that a test can end the stream in any way.
actor RawPeer: LoopActor {
  nonisolated let loop: NetworkLoop
  private var stream: TCPStream?

  init(on loop: NetworkLoop) { self.loop = loop }

  static func sitDown(at endpoints: [Endpoint], on loop: NetworkLoop) async throws -> RawPeer {
    let peer = RawPeer(on: loop)
    try await peer.connect(to: endpoints)
    return peer
  }

  private func connect(to endpoints: [Endpoint]) async throws {
    let stream = try await TCPStream.connect(to: endpoints, on: loop)
    self.stream = stream
    stream.setHandler(owner: self) { _, _ in }
    let request = ControlPacket.request(
      version: SessionWire.version, .none, makePeer("raw"))
    try stream.write(request.packet.framed())
  }

  func reset() { stream?.reset() }
  func finish() { stream?.shutdownWrite() }
}
