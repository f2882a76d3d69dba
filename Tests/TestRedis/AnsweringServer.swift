import CaromCore
import CaromTransport

/// A TCP server that gives the same answer to all that it gets, in a line.
package actor AnsweringServer: LoopActor {
  package nonisolated let loop: NetworkLoop
  private let answer: String
  private var listener: TCPListener?
  private var streams: [TCPStream] = []
  private let connections = AsyncStream.makeStream(of: Void.self)

  package init(_ answer: String, on loop: NetworkLoop) {
    self.loop = loop
    self.answer = answer
  }

  package func listen() throws -> Endpoint {
    let listener = try TCPListener(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      server, event in
      if case .accepted(let stream) = event { server.accept(stream) }
    }
    self.listener = listener
    return listener.localEndpoint
  }

  /// Waits until so many connections have been opened, since it was called last, on which something
  /// was sent.
  package func waitForConnections(_ count: Int) async {
    var iterator = connections.stream.makeAsyncIterator()
    for _ in 0..<count { await iterator.next(isolation: #isolation) }
  }

  package func close() {
    listener?.close()
    for stream in streams { stream.close() }
  }

  private func accept(_ stream: TCPStream) {
    let index = streams.count
    var isNew = true
    streams.append(stream)
    stream.setHandler(owner: self) { server, event in
      guard case .bytes = event else { return }
      if isNew { server.connections.continuation.yield() }
      isNew = false
      guard !server.answer.isEmpty else { return }
      try? server.streams[index].write(Array("\(server.answer)\r\n".utf8))
    }
  }
}
