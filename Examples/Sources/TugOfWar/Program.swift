import Carom
import Foundation

/// A server and one client over loopback. The client pulls harder, and wins. With the arguments
/// `page FOLDER` and, if it is not 7777, a port, the program serves a page to a browser instead.
@main enum Program {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "page", let folder = arguments.dropFirst().first {
      let port = arguments.dropFirst(2).first.flatMap { UInt16($0) } ?? 7777
      return try await servePage(in: URL(filePath: folder), port: port)
    }
    try await withNetworkLoop { loop in
      let me = PeerInfo(id: .random(), name: "Leo", application: "tug-of-war")
      let host = PeerInfo(id: .random(), name: "Maya", application: "tug-of-war")
      try await Session.host(as: host, on: [.loopback4], seats: 1, loop: loop) { session, port in
        let server = Task { try await serve(session, on: loop) }
        let endpoint = Endpoint(.loopback4, port: port)
        let winner = try await Session.join([endpoint], as: me, loop: loop) { session, host in
          try await play(session, with: host)
        }
        server.cancel()
        try await server.value
        guard winner == 1 else { fatalError("the weaker player won") }
        print("player 1 wins")
      }
    }
  }

  /// Serves the match. Player 0 belongs to the server and pulls with a strength of 3.
  static func serve(_ session: Session, on loop: NetworkLoop) async throws {
    let server = RollbackServer(TugOfWar(), players: 2, at: loop.now)
    try await server.run(over: session, remotePlayers: [1]) { match in
      match.server.setInput(TugOfWar.Pull(3), for: 0)
    }
  }

  /// Pulls with a strength of 8 until a victory is confirmed; returns the player who won.
  static func play(_ session: Session, with host: Peer) async throws -> Int? {
    let match = try await RollbackClient<TugOfWar>.join(host, over: session)
    for await _ in match.ticks {
      match.advance(with: TugOfWar.Pull(8))
      while let event = match.pollEvent() {
        if case .confirmed(.won(let player), _) = event { return player }
      }
    }
    return nil
  }
}
