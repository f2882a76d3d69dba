import Carom
import TestTLS

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

  /// Measures what a player costs in a tick, over WebSockets, which TLS carries if `isEncrypted` is
  /// true, or over data channels beside them if `usesChannels` is.
  func webSocketCosts(
    isEncrypted: Bool = false, usesChannels: Bool = false
  ) async throws -> BrowserCosts {
    let kinds: LinkKinds = usesChannels ? [.datagram, .webSocket] : [.stream, .webSocket]
    return try await Self.withServer(over: kinds, isEncrypted: isEncrypted) { server, port in
      let players = BrowserPlayers(isEncrypted: isEncrypted, usesChannels: usesChannels)
      try await players.join(port: port)
      var before = UInt64(0)
      try await server.play(with: players, warmUp: warmUp, ticks: ticks, rate: rate) {
        before = await players.bytes
      }
      // What the node counts does not include WebSocket and TLS.
      var total = await server.total
      total.bytes = await players.bytes - before
      await players.leave()
      return BrowserCosts(total, of: peerTicks)
    }
  }

  /// Measures what a player costs in a tick, over datagrams.
  func datagramCosts() async throws -> BrowserCosts {
    let loop = try NetworkLoop(name: "players")
    let input = EncodedMessage([UInt8](repeating: 0, count: Self.inputLength))
    let players = TurnNodes(Self.players, on: loop) { number in
      SessionNode(Self.peer(number), seats: 0, over: .datagram, on: loop)
    } _: { node, connection in
      try? node.send(input, on: .game, to: connection)
    }
    let costs: Result<BrowserCosts, any Error>
    do {
      costs = .success(
        try await Self.withServer(over: .datagram) { server, port in
          try await players.join(port: port)
          try await server.play(with: players, warmUp: warmUp, ticks: ticks, rate: rate)
          return BrowserCosts(await server.total, of: peerTicks)
        })
    } catch { costs = .failure(error) }
    await players.leave()
    await loop.shutdown()
    return try costs.get()
  }

  private var peerTicks: Double { Double(Self.players * ticks) }

  /// Measures the bytes that the host's heap holds for a browser that has joined and is idle.
  static func idlePeerHeap(
    isEncrypted: Bool = false, usesChannels: Bool = false
  ) async throws -> Double {
    try await heap(isEncrypted, usesChannels) { players, port in try await players.join(port: port)
    }
  }

  /// Measures the bytes that the host's heap holds for a connection on which a request has begun.
  static func openDoorHeap() async throws -> Double {
    try await heap(false) { players, port in try await players.openDoors(port: port) }
  }

  private static func heap(
    _ isEncrypted: Bool, _ usesChannels: Bool = false,
    of open: (BrowserPlayers, UInt16) async throws -> Void
  ) async throws -> Double {
    let kinds: LinkKinds = usesChannels ? [.datagram, .webSocket] : [.stream, .webSocket]
    return try await withServer(over: kinds, isEncrypted: isEncrypted) { server, port in
      await server.beginHeap()
      let players = BrowserPlayers(isEncrypted: isEncrypted, usesChannels: usesChannels)
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
    over kinds: LinkKinds = [.stream, .webSocket], isEncrypted: Bool = false,
    _ body: (TurnServer, UInt16) async throws -> Result
  ) async throws -> Result {
    let certificate = isEncrypted ? try TestCertificate.load() : nil
    let loop = try NetworkLoop(name: "server")
    let server = TurnServer(over: kinds, certificate, on: loop)
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(server, try await server.listen())) } catch {
      result = .failure(error)
    }
    await loop.shutdown()
    return try result.get()
  }
}
