import CaromCore
import CaromTransport

/// The example of `EventLoop`'s documentation.
actor Echo: LoopActor {
  nonisolated let loop: EventLoop
  private var socket: UDPSocket?

  init(on loop: EventLoop) { self.loop = loop }

  func open() throws(TransportError) -> Endpoint {
    let socket = try UDPSocket(on: loop, owner: self) { echo, batch in echo.receive(batch) }
    self.socket = socket
    return socket.localEndpoint
  }

  private func receive(_ batch: borrowing UDPBatch) {
    assertIsolated()
    for index in batch.indices { socket?.send(batch[index].payload, to: batch[index].source) }
    socket?.flush()
  }

  func close() { socket = nil }
}
