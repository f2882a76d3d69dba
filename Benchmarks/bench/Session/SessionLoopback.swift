import Foundation

/// A measurement on loopback between two processes, each on its own core.
struct SessionLoopback: Sendable {
  /// The name of the measurement in tables.
  let name: String
  let scenario: SessionCommand.Scenario
  let subject: SessionSubject
  /// The number of players, or 0 in scenarios without players.
  let condition: Double
  /// Additional options of the client's process.
  let options: [String]

  private static let serverCore = "core=0"
  private static var clientCore: String { "core=\(EchoCommand.loadCore)" }
  static let ticks = 300
  /// The number of players in the crowd scenario: as many as a host can hold. They play at a third
  /// of the usual rate, for the same time.
  static let crowd = 4_096
  static let crowdHertz = 20
  static let crowdTicks = 100
  private static let messages = 1_000_000

  /// Returns the measurements of a scenario for one subject. The result is empty if the subject
  /// lacks the roles.
  static func settings(
    of scenario: SessionCommand.Scenario, _ subject: SessionSubject, peers: [Int]
  ) -> [SessionLoopback] {
    func setting(_ name: String, _ condition: Int, _ options: String...) -> SessionLoopback {
      SessionLoopback(
        name: name, scenario: scenario, subject: subject, condition: Double(condition),
        options: options)
    }
    switch scenario {
    case .echo where subject.has(.answer, .burst):
      return [
        setting("\(subject.name), unreliable", 0, "mode=unreliable"),
        setting("\(subject.name), reliable", 0, "mode=reliable"),
      ]
    case .echo where subject.has(.answer): return [setting(subject.name, 0)]
    case .game where subject.has(.serve, .play):
      return peers.map { setting(subject.name, $0, "peers=\($0)", "ticks=\(ticks)") }
    case .crowd where subject.has(.serve, .play) && subject.hasCrowds:
      let options = ["peers=\(crowd)", "ticks=\(crowdTicks)", "hertz=\(crowdHertz)"]
      return [
        SessionLoopback(
          name: subject.name, scenario: scenario, subject: subject, condition: Double(crowd),
          options: options)
      ]
    case .coalesced where subject.has(.burst):
      return [setting(subject.name, 0, "count=\(messages)")]
    default: return []
    }
  }

  func run() async throws -> SessionFigures {
    switch scenario {
    case .echo: try await measure(.answer, subject.has(.ask) ? subject : .udp, .ask)
    case .game, .crowd: try await measureGame()
    default: try await measure(.receive, subject, .burst)
    }
  }

  /// Runs a server and a client; the client prints the figures.
  private func measure(
    _ role: SessionSubject.Role, _ other: SessionSubject, _ otherRole: SessionSubject.Role
  ) async throws -> SessionFigures {
    let server = try SessionSide(subject, role, [Self.serverCore])
    do {
      let port = try await server.ready()
      let client = try SessionSide(
        other, otherRole, ["port=\(port)", Self.clientCore] + options)
      let figures = try await client.figures(within: .seconds(60))
      await client.end()
      await server.end()
      return figures
    } catch {
      await server.end()
      throw error
    }
  }

  /// Runs a server and its players. Both print figures, among them the server's processor time.
  private func measureGame() async throws -> SessionFigures {
    let server = try SessionSide(
      subject, .serve, [Self.serverCore, "channels=8"] + options)
    do {
      let port = try await server.ready()
      let players = try SessionSide(
        subject, .play, ["port=\(port)", Self.clientCore, "channels=8"] + options)
      async let arrived = players.figures(within: .seconds(60))
      let figures = try await server.figures(within: .seconds(60)).merging(arrived)
      await players.end()
      await server.end()
      return figures
    } catch {
      await server.end()
      throw error
    }
  }
}
