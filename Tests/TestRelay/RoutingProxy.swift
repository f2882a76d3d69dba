import CaromCore
import CaromTransport

/// A stand-in for a UDP proxy such as Quilkin, on loopback: finds the server of each datagram by
/// the routing bytes that it carries, and drops those without bytes that it knows. It sends to a
/// server from one port for each client.
public actor RoutingProxy: LoopActor {
  /// A client and the server that its routing bytes name.
  private struct Flow: Hashable {
    let client: Endpoint
    let server: Endpoint
  }

  /// The loop on which the proxy runs.
  public nonisolated let loop: NetworkLoop
  private let position: DatagramRouting.Position
  private let keepsBytes: Bool
  private let addsBytes: Bool
  private var servers: [[UInt8]: Endpoint] = [:]
  private var front: UDPSocket?
  private var backs: [Flow: UDPSocket] = [:]
  /// The number of datagrams that were dropped because they carried no known routing bytes.
  public private(set) var dropped = 0
  /// The number of ports from which the proxy has sent to servers so far.
  public private(set) var ports = 0
  /// The length of the longest datagram from a client.
  public private(set) var longest = 0
  /// The length of the longest datagram that was sent to a server.
  public private(set) var longestToServer = 0

  /// Creates a proxy for bytes at `position`. If `keepsBytes`, it does not remove them. If
  /// `addsBytes`, it adds them to what servers send.
  public init(
    _ position: DatagramRouting.Position, keepsBytes: Bool = false, addsBytes: Bool = false,
    on loop: NetworkLoop
  ) {
    self.position = position
    self.keepsBytes = keepsBytes
    self.addsBytes = addsBytes
    self.loop = loop
  }

  /// Opens the proxy, and returns the endpoint for clients.
  public func open() throws(TransportError) -> Endpoint {
    let front = try UDPSocket(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      proxy, batch in
      for index in batch.indices { proxy.forward(batch[index]) }
      for back in proxy.backs.values { back.flush() }
    }
    self.front = front
    return front.localEndpoint
  }

  /// Has the proxy send datagrams with these bytes to a server.
  public func add(_ bytes: [UInt8], to server: Endpoint) { servers[bytes] = server }

  /// Forgets all clients, as a proxy does that starts again: their next datagrams come from other
  /// ports, and what servers send to the old ones is lost.
  public func changePorts() {
    for back in backs.values { back.close() }
    backs = [:]
  }

  /// Closes all sockets.
  public func close() {
    front?.close()
    changePorts()
  }

  private func forward(_ datagram: ReceivedDatagram) {
    let bytes = datagram.payload
    longest = max(longest, bytes.count)
    guard let (token, server) = findServer(of: bytes) else {
      dropped += 1
      return
    }
    let start = position == .prefix ? token.count : 0
    let payload =
      keepsBytes ? bytes : bytes.extracting(start..<start + bytes.count - token.count)
    longestToServer = max(longestToServer, payload.count)
    let flow = Flow(client: datagram.source, server: server)
    if let back = backs[flow] ?? open(flow, token) { back.send(payload, to: server) }
  }

  private func findServer(of bytes: Span<UInt8>) -> (token: [UInt8], server: Endpoint)? {
    for (token, server) in servers where token.count <= bytes.count {
      let start = position == .prefix ? 0 : bytes.count - token.count
      if token.indices.allSatisfy({ bytes[start + $0] == token[$0] }) { return (token, server) }
    }
    return nil
  }

  private func open(_ flow: Flow, _ token: [UInt8]) -> UDPSocket? {
    let back = try? UDPSocket(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      proxy, batch in proxy.answer(batch, to: flow.client, token)
    }
    backs[flow] = back
    ports += 1
    return back
  }

  private func answer(_ batch: borrowing UDPBatch, to client: Endpoint, _ token: [UInt8]) {
    for index in batch.indices {
      let bytes = Array(copying: batch[index].payload)
      let added = position == .prefix ? token + bytes : bytes + token
      front?.send(addsBytes ? added : bytes, to: client)
    }
    front?.flush()
  }
}
