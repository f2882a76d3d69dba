import CaromCore
import CaromTransport

/// The example of `NetworkLoop`'s documentation.
actor Echo: LoopActor {
  nonisolated let loop: NetworkLoop
  private var socket: UDPSocket?

  init(on loop: NetworkLoop) { self.loop = loop }

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
