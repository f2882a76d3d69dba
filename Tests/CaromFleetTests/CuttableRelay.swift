import CaromCore
import CaromTransport

/// A relay in front of a TCP server on loopback, which can be cut: what is sent then arrives on
/// neither side until the relay is healed.
actor CuttableRelay: LoopActor {
  private struct Connection {
    let client: TCPStream
    var server: TCPStream?
  }

  nonisolated let loop: NetworkLoop
  private let target: Endpoint
  private var listener: TCPListener?
  private var connections: [Connection] = []
  private var isCut = false

  init(to target: Endpoint, on loop: NetworkLoop) {
    self.loop = loop
    self.target = target
  }

  /// Opens the relay, and returns where it is.
  func listen() throws -> Endpoint {
    let listener = try TCPListener(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      relay, event in
      if case .accepted(let stream) = event { relay.accept(stream) }
    }
    self.listener = listener
    return listener.localEndpoint
  }

  func cut() { setCut(true) }

  /// Carries all that was sent meanwhile, and what follows.
  func heal() { setCut(false) }

  func close() {
    listener?.close()
    for connection in connections {
      connection.client.reset()
      connection.server?.reset()
    }
  }

  private func setCut(_ isCut: Bool) {
    self.isCut = isCut
    for connection in connections {
      for stream in [connection.client, connection.server] {
        if isCut { stream?.pauseReading() } else { stream?.resumeReading() }
      }
    }
  }

  private func accept(_ client: TCPStream) {
    let index = connections.count
    connections.append(Connection(client: client))
    Task { await connect(index) }
  }

  private func connect(_ index: Int) async {
    let client = connections[index].client
    guard let server = try? await TCPStream.connect(to: [target], on: loop) else {
      return client.reset()
    }
    connections[index].server = server
    client.setHandler(owner: self) { relay, event in
      if let server = relay.connections[index].server { Self.carry(event, to: server) }
    }
    server.setHandler(owner: self) { relay, event in
      Self.carry(event, to: relay.connections[index].client)
    }
    if isCut { setCut(true) }
  }

  private static func carry(_ event: borrowing TCPEvent, to stream: TCPStream) {
    switch event {
    // A side that has closed its connection needs nothing any more.
    case .bytes(let bytes): try? stream.write(bytes)
    case .writable: break
    case .end: stream.shutdownWrite()
    case .closed: stream.close()
    }
  }
}
