import Carom

/// What a server spends on one player in one tick.
struct BrowserCosts: Sendable {
  /// The processor time of the server's thread, in microseconds.
  var processorTime: Double
  /// The system calls of the server's thread.
  var systemCalls: Double
  /// The heap allocations of the server's thread.
  var allocations: Double
  /// The bytes that the players' sockets carry, in both directions.
  var bytes: Double

  /// Creates the costs of `peerTicks` players and ticks together.
  init(_ total: TurnServer.Spending, of peerTicks: Double) {
    processorTime = Double(total.time) / 1000 / peerTicks
    systemCalls = Double(total.systemCalls) / peerTicks
    allocations = Double(total.allocations) / peerTicks
    bytes = Double(total.bytes) / peerTicks
  }
}

extension TurnServer {
  /// Creates a host for the measured browsers.
  init(over kinds: LinkKinds, _ certificate: TLSCertificate?, on loop: NetworkLoop) {
    let state = EncodedMessage([UInt8](repeating: 0, count: BrowserRun.stateLength))
    let node = SessionNode(
      BrowserRun.peer(0), seats: BrowserRun.players, over: kinds,
      browsers: BrowserOptions(encryption: certificate.map { .init($0) }), on: loop)
    self.init(node, players: BrowserRun.players) { node, connection in
      try? node.send(state, on: .game, to: connection)
    }
  }
}

extension MessageChannel where Message == EncodedMessage {
  /// The inputs and states of the measured game.
  static var game: Self { .init(BrowserRun.channel, .unreliable) }
}
