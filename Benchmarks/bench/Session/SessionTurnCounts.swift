import Carom
import SessionPeers

/// What a server spends on one player in one tick over real sockets, in counts that do not depend
/// on the machine: the inputs of all players wait when the server wakes, and it answers the last of
/// them with everybody's state.
struct SessionTurnCounts: Sendable {
  /// The system calls of the server's thread.
  var systemCalls = 0.0
  /// The heap allocations of the server's thread.
  var allocations = 0.0
  /// The bytes of both directions that the server's sockets carry.
  var bytes = 0.0

  /// The number of players; one more than this in the same tick would need a second `recvmmsg`.
  static let players = 60
  static let warmUp = 100
  static let ticks = 500

  static func measure(over link: SessionCarom.Link) async throws -> SessionTurnCounts {
    let serverLoop = try NetworkLoop(name: "server")
    let playersLoop = try NetworkLoop(name: "players")
    let (state, input) = (
      SessionBytes(count: Int(SIDE_STATE)), SessionBytes(count: Int(SIDE_INPUT))
    )
    let server = TurnServer(
      SessionCarom.makeNode(0, seats: players, over: link, on: serverLoop), players: players
    ) { node, connection in try? node.send(state, on: .inputs, to: connection) }
    let nodes = TurnNodes(players, on: playersLoop) { number in
      SessionCarom.makeNode(number, seats: 0, over: link, on: playersLoop)
    } _: { node, connection in
      try? node.send(input, on: .inputs, to: connection)
    }
    let result: Result<SessionTurnCounts, any Error>
    do {
      try await nodes.join(port: try await server.listen())
      try await server.play(with: nodes, warmUp: warmUp, ticks: ticks)
      result = .success(SessionTurnCounts(await server.total))
    } catch { result = .failure(error) }
    await nodes.leave()
    await playersLoop.shutdown()
    await serverLoop.shutdown()
    return try result.get()
  }

  private init(_ total: TurnServer.Spending) {
    let count = Double(Self.players * Self.ticks)
    systemCalls = Double(total.systemCalls) / count
    allocations = Double(total.allocations) / count
    bytes = Double(total.bytes) / count
  }
}
