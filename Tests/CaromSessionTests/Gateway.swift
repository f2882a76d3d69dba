import CaromCore
import CaromTransport

/// Forwards datagrams between one client and a host, and can change the source address that the
/// host sees, as the NAT of a home router does.
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

  /// Opens both sockets, and returns the endpoint for the client to connect to.
  func open() throws(TransportError) -> Endpoint {
    let front = try UDPSocket(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      gateway, batch in gateway.passOn(batch)
    }
    self.front = front
    try rebind()
    return front.localEndpoint
  }

  /// Changes the port that the host sees. Datagrams from the host to the old port are lost.
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
