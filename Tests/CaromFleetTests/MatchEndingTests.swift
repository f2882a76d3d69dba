import CaromCore
import CaromCrypto
import CaromFleet
import CaromProtocol
import CaromSession
import CaromTransport
import Testing

/// What a player is told when its host goes, and it knows no other host of the fleet yet.
@Suite(.timeLimit(.minutes(1)))
struct MatchEndingTests {
  /// A goodbye of a host, and what `joinMatch` throws after it; nil if it returns.
  enum Case: CaseIterable {
    case left
    case finished
    case movedToNowhere
    case kicked

    var goodbye: Goodbye {
      switch self {
      case .left: Goodbye(.left)
      case .finished: Goodbye(.finished)
      case .movedToNowhere: Goodbye(movedTo: NextHost())
      case .kicked: Goodbye(.kicked, text: "no cheating")
      }
    }

    func isTold(by error: (any Error)?) -> Bool {
      switch self {
      case .left: error as? FleetMatchError == .hostEnded
      case .finished: error == nil
      case .movedToNowhere: error as? FleetMatchError == .noAnswer
      case .kicked: error as? SessionError == .refused(.kicked("no cheating"))
      }
    }
  }

  @Test(arguments: Case.allCases)
  func `a player is told how its match has ended`(_ ending: Case) async throws {
    try await withNetworkLoop { loop in
      let key = BackendKey.random()
      let me = PeerInfo(name: "player", application: "counts")
      let host = PeerInfo(name: "host", application: "counts")
      // It accepts tokens of the millisecond in which it starts.
      let security = SessionSecurity.token(keys: [key], start: UnixTime(milliseconds: 0))
      try await Session.host(
        as: host, on: [.loopback4], seats: 1, security: security, loop: loop
      ) { session, port in
        let sending = Task {
          for await event in session.events {
            guard case .joined(let player) = event else { continue }
            return await player.close(ending.goodbye)
          }
        }
        defer { sending.cancel() }
        var generator = SystemGenerator()
        let token = try ConnectToken(
          for: [Endpoint(.loopback4, port: port)], player: me.id, lifetime: .seconds(30), key: key,
          at: .now, using: &generator)
        var error: (any Error)?
        do {
          let result = try await Session.joinMatch(with: token, as: me, loop: loop) { session, _ in
            _ = await session.ending()
            return nil as Int?
          }
          #expect(result == nil)
        } catch let thrown { error = thrown }
        #expect(ending.isTold(by: error), "\(error.map { "\($0)" } ?? "nothing is thrown")")
      }
    }
  }
}
