import CaromCodec
import CaromCore
import CaromTransport
import Testing

@testable import CaromProtocol
@testable import CaromSession

@Suite(.timeLimit(.minutes(1))) struct StalledStreamTests {
  /// Nothing but the stream itself can make the node continue: the host never sends, and the client
  /// sends no pings.
  @Test func `output for which a stream had no room is sent as soon as the stream is writable`()
    async throws
  {
    try await withNetworkLoop { loop in
      let host = MuteHost(on: loop)
      let client = SessionNode(
        makePeer("client"), seats: 0, timing: .withoutPings, over: .stream, on: loop)
      let connection = try await client.connect(to: [try await host.listen()])
      #expect(try await client.fillStream(of: connection) >= SessionLink.writeLength)
      await host.waitForBytes(1_000_000)
      await client.shutdown()
    }
  }
}

extension SessionNode {
  /// Sends 1 MB at once, within the first credit of four channels, although the system has room for
  /// only a few of them. Returns the number of bytes in the stream's send queue.
  fileprivate func fillStream(of connection: ConnectionID) throws -> Int {
    try sockets.streams[connection]?.setSendBuffer(10_000)
    let note = Note([UInt8](repeating: 1, count: 250_000))
    for channel in 0..<UInt8(4) {
      let notes = MessageChannel<Note>(channel, .reliableOrdered)
      try send(note, on: notes, to: connection)
    }
    flush()
    return sockets.streams[connection]?.queuedBytes ?? 0
  }
}

/// A host that grants a seat on a bare stream, then reads and sends nothing, not even an
/// acknowledgement.
private actor MuteHost: LoopActor {
  nonisolated let loop: NetworkLoop
  private var listener: TCPListener?
  private var stream: TCPStream?
  private var count = 0
  private var waiter: (count: Int, CheckedContinuation<Void, Never>)?

  init(on loop: NetworkLoop) { self.loop = loop }

  func listen() throws(TransportError) -> Endpoint {
    let listener = try TCPListener(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      host, event in
      if case .accepted(let stream) = event { host.accept(stream) }
    }
    self.listener = listener
    return listener.localEndpoint
  }

  private func accept(_ stream: TCPStream) {
    self.stream = stream
    stream.setHandler(owner: self) { host, event in
      if case .bytes(let bytes) = event { host.receive(bytes.count) }
    }
  }

  private func receive(_ bytes: Int) {
    if count == 0 {
      let grant = ControlPacket.grant(version: SessionWire.version, makePeer("mute"))
      try? stream?.write(grant.packet.framed())
    }
    count += bytes
    guard let waiter, count >= waiter.count else { return }
    self.waiter = nil
    waiter.1.resume()
  }

  /// Waits until at least `count` bytes have arrived.
  func waitForBytes(_ count: Int) async {
    if self.count < count { await withCheckedContinuation { waiter = (count, $0) } }
  }
}
