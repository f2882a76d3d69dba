import CaromTransport

/// Owns a stream that was moved from another loop.
actor StreamOwner: LoopActor {
  nonisolated let loop: NetworkLoop
  private var stream: TCPStream?
  private let events = Events<Seen>()

  init(on loop: NetworkLoop) { self.loop = loop }

  func attach(_ detached: DetachedStream) throws(TransportError) {
    let stream = try TCPStream(on: loop, attaching: detached)
    self.stream = stream
    let events = events
    stream.setHandler { events.add(Seen($0)) }
  }

  func next() async -> Seen { await events.next() }
  func write(_ bytes: [UInt8]) throws(TransportError) { try stream?.write(bytes) }
  func close() { stream?.close() }
}
