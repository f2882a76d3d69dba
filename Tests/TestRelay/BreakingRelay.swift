import CaromCore
import CaromTransport

/// A relay in front of a TCP server on loopback, which resets the first connections after they have
/// carried some bytes.
public actor BreakingRelay: LoopActor {
  private struct Connection {
    let client: TCPStream
    var server: TCPStream?
    var carried = 0
  }

  /// The loop on which the relay runs.
  public nonisolated let loop: NetworkLoop
  /// The endpoint of the server.
  public nonisolated let target: Endpoint
  private let breakLimit: Int
  private let byteLimit: Int
  private let servesAfterwards: Bool
  private var listener: TCPListener?
  private var connections: [Connection] = []
  /// How many connections have been reset so far.
  public private(set) var breaks = 0
  private var waiters: [CheckedContinuation<Void, Never>] = []

  private init(
    to port: UInt16, breaks: Int, after bytes: Int, servesAfterwards: Bool, on loop: NetworkLoop
  ) {
    self.loop = loop
    self.servesAfterwards = servesAfterwards
    target = Endpoint(.loopback4, port: port)
    breakLimit = breaks
    byteLimit = bytes
  }

  /// Runs `body` with a relay to `port`, and with the port of the relay. The relay resets the first
  /// `breaks` connections once they have carried more than `bytes` bytes, in both directions
  /// together. Afterwards it carries all that connections send, or accepts none.
  public static func run<Value>(
    to port: UInt16, breaks: Int = 1, after bytes: Int, servesAfterwards: Bool = true,
    _ body: (BreakingRelay, UInt16) async throws -> Value
  ) async throws -> Value {
    try await withNetworkLoop { loop in
      let relay = BreakingRelay(
        to: port, breaks: breaks, after: bytes, servesAfterwards: servesAfterwards, on: loop)
      return try await body(relay, try await relay.listen())
    }
  }

  /// Waits until the last of the connections that are to be reset has been reset.
  public func waitForLastBreak() async {
    guard breaks < breakLimit else { return }
    await withCheckedContinuation { waiters.append($0) }
  }

  private func listen() throws -> UInt16 {
    let listener = try TCPListener(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      relay, event in
      if case .accepted(let stream) = event { relay.accept(stream) }
    }
    self.listener = listener
    return listener.localEndpoint.port
  }

  private func accept(_ stream: TCPStream) {
    let index = connections.count
    connections.append(Connection(client: stream))
    Task { await self.connect(index) }
  }

  private func connect(_ index: Int) async {
    guard let server = try? await TCPStream.connect(to: [target], on: loop) else {
      return connections[index].client.reset()
    }
    connections[index].server = server
    let client = connections[index].client
    for stream in [client, server] {
      // What one side sends faster than the other reads waits here.
      stream.queueLimit = .max
      let isFromClient = stream === client
      stream.setHandler(owner: self) { relay, event in
        relay.forward(event, of: index, isFromClient: isFromClient)
      }
    }
  }

  private func forward(_ event: borrowing TCPEvent, of index: Int, isFromClient: Bool) {
    let connection = connections[index]
    guard let other = isFromClient ? connection.server : connection.client else { return }
    switch event {
    case .bytes(let bytes):
      connections[index].carried += bytes.count
      if connections[index].carried > byteLimit, breaks < breakLimit {
        reset(connection)
      } else {
        try? other.write(bytes)
      }
    case .end: other.shutdownWrite()
    case .closed: other.close()
    case .writable: break
    }
  }

  private func reset(_ connection: Connection) {
    breaks += 1
    connection.client.reset()
    connection.server?.reset()
    guard breaks == breakLimit else { return }
    if !servesAfterwards { listener?.close() }
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
