import CaromCore
import CaromTransport

/// Passes datagrams on between one client and a host, and can change the address that the host
/// sees: what a home's router does.
actor Gateway: LoopActor {
  nonisolated let loop: NetworkLoop
  private let host: Endpoint
  private var front: UDPSocket?
  private var back: UDPSocket?
  private var client: Endpoint?

  init(to host: Endpoint, on loop: NetworkLoop) {
    self.host = host
    self.loop = loop
  }

  /// Where the client finds it.
  func open() throws(TransportError) -> Endpoint {
    let front = try UDPSocket(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      gateway, batch in gateway.passOn(batch)
    }
    self.front = front
    try rebind()
    return front.localEndpoint
  }

  /// The host sees another port from now on, and what it sends to the old one is lost.
  func rebind() throws(TransportError) {
    back?.close()
    back = try UDPSocket(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      gateway, batch in gateway.passBack(batch)
    }
  }

  func close() {
    front?.close()
    back?.close()
  }

  private func passOn(_ batch: borrowing UDPBatch) {
    for index in batch.indices {
      client = batch[index].source
      back?.send(batch[index].payload, to: host)
    }
    back?.flush()
  }

  private func passBack(_ batch: borrowing UDPBatch) {
    guard let client else { return }
    for index in batch.indices { front?.send(batch[index].payload, to: client) }
    front?.flush()
  }
}
