import Carom
import Dispatch

/// One measurement of a host and its players, over WebSockets or datagrams.
struct BrowserRun: Sendable {
  /// The number of players; one more over datagrams would need a second `recvmmsg` in a tick.
  static let players = 60
  /// The lengths of an input and of a state, in bytes.
  static let inputLength = 60
  static let stateLength = 300
  /// The channel of both.
  static let channel: UInt8 = 3

  /// The ticks that are played before the measured ones, and those.
  var warmUp: Int
  var ticks: Int
  /// The ticks of a second, or nil for as many as there can be.
  var rate: Int?

  static func peer(_ number: Int) -> PeerInfo {
    PeerInfo(
      id: PeerID(high: 3, low: UInt64(number)), name: "side \(number)", application: "bench")
  }

  /// Measures what a player costs in a tick, over WebSockets.
  func webSocketCosts() async throws -> BrowserCosts {
    try await costs(over: [.stream, .webSocket], BrowserWebPlayers())
  }

  /// Measures what a player costs in a tick, over datagrams.
  func datagramCosts() async throws -> BrowserCosts {
    let loop = try NetworkLoop(name: "players")
    let costs: Result<BrowserCosts, any Error>
    do {
      costs = .success(try await self.costs(over: .datagram, BrowserDatagramPlayers(on: loop)))
    } catch { costs = .failure(error) }
    await loop.shutdown()
    return try costs.get()
  }

  private func costs(
    over kinds: LinkKinds, _ players: some BrowserPlayers
  ) async throws -> BrowserCosts {
    try await Self.withServer(over: kinds) { server, port in
      try await players.join(port: port)
      var bytes = UInt64(0)
      let (isHeld, mayContinue) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let start = ContinuousClock.now
      for tick in 0...warmUp + ticks {
        // The server's thread stops until every input waits in its sockets.
        async let held: Void = server.hold(isHeld, mayContinue, counts: tick > warmUp)
        try await players.sendInputs(isHeld, mayContinue)
        await held
        try await players.awaitStates()
        if tick == warmUp { bytes = try await total(server, players) }
        guard let rate else { continue }
        try await Task.sleep(until: start + .seconds(1) * (tick + 1) / rate)
      }
      let peerTicks = Double(Self.players * ticks)
      var costs = await server.costs(of: peerTicks)
      costs.bytes = Double(try await total(server, players) - bytes) / peerTicks
      await players.leave()
      return costs
    }
  }

  private func total(
    _ server: BrowserServer, _ players: some BrowserPlayers
  ) async throws -> UInt64 {
    let bytes = await players.bytes
    if let bytes { return bytes }
    return await server.bytes
  }

  /// Measures the bytes that the host's heap holds for a browser that has joined and is idle.
  static func idlePeerHeap() async throws -> Double {
    try await heap { players, port in try await players.join(port: port) }
  }

  /// Measures the bytes that the host's heap holds for a connection on which a request has begun.
  static func openDoorHeap() async throws -> Double {
    try await heap { players, port in try await players.openDoors(port: port) }
  }

  private static func heap(
    of open: (BrowserWebPlayers, UInt16) async throws -> Void
  ) async throws -> Double {
    try await withServer(over: [.stream, .webSocket]) { server, port in
      await server.beginHeap()
      let players = BrowserWebPlayers()
      let result: Result<Void, any Error>
      do { result = .success(try await open(players, port)) } catch { result = .failure(error) }
      // The host reads the last bytes, and its answers are acknowledged.
      try await Task.sleep(for: .milliseconds(500))
      let held = await server.endHeap()
      await players.leave()
      try result.get()
      return held / Double(Self.players)
    }
  }

  private static func withServer<Result>(
    over kinds: LinkKinds, _ body: (BrowserServer, UInt16) async throws -> Result
  ) async throws -> Result {
    let loop = try NetworkLoop(name: "server")
    let server = BrowserServer(over: kinds, on: loop)
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(server, try await server.listen())) } catch {
      result = .failure(error)
    }
    await loop.shutdown()
    return try result.get()
  }
}
