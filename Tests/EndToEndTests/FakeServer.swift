import CaromCore
import CaromTransport

/// A TCP server on loopback that does not speak the game's protocol. It answers every message with
/// fixed bytes, or never.
actor FakeServer: LoopActor {
  nonisolated let loop: NetworkLoop
  private let answer: [UInt8]
  private var listener: TCPListener?
  private var streams: [TCPStream] = []

  private init(on loop: NetworkLoop, answering answer: [UInt8]) {
    self.loop = loop
    self.answer = answer
  }

  /// Runs `body` with the port of a new server.
  static func run<Value>(
    answering answer: [UInt8] = [], _ body: (UInt16) async throws -> Value
  ) async throws -> Value {
    try await withNetworkLoop { loop in
      let server = FakeServer(on: loop, answering: answer)
      return try await body(try await server.listen())
    }
  }

  private func listen() throws -> UInt16 {
    let listener = try TCPListener(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      server, event in
      if case .accepted(let stream) = event { server.accept(stream) }
    }
    self.listener = listener
    return listener.localEndpoint.port
  }

  private func accept(_ stream: TCPStream) {
    streams.append(stream)
    guard !answer.isEmpty else { return }
    let answer = answer
    stream.setHandler(owner: self) { server, event in
      guard case .bytes = event else { return }
      try? server.streams.last?.write(answer)
    }
  }
}
