import BenchProbe
import Carom

/// Strangers who flood a host: what it takes from them, and what its players notice.
enum SessionFlood {
  /// Datagrams a second that players have to live with.
  static let rate = 100_000
  private static let hostCore = "core=0"
  private static var otherCore: String { "core=\(EchoCommand.loadCore)" }
  /// Round trips, one each 200 us.
  private static let asking = ["count=10000", "interval=0.0002", "mode=unreliable", "spin=0"]

  /// The machine alone, in the bytes and times of each kind.
  static func measureMachine() -> SessionFigures {
    var figures = SessionFigures()
    for kind in SessionStrangers.Kind.allCases {
      let datagrams = SessionStrangers.datagrams(kind)
      figures[kind.rawValue] = SessionStrangers.nanoseconds(of: datagrams)
      figures["\(kind.rawValue)_worst"] =
        datagrams.map { SessionStrangers.nanoseconds(of: [$0]) }.max() ?? .nan
    }
    if let accept = SessionArrivals.nanoseconds(count: Host.connectionLimit) {
      figures["accept"] = accept.all
      figures["accept_late"] = accept.late
    }
    figures["held"] = SessionStrangers.heldBytes()
    return figures
  }

  /// A server that takes all that comes, over sockets.
  static func measureStand(_ kind: SessionStrangers.Kind) async throws -> SessionFigures {
    let datagrams = SessionStrangers.datagrams(kind)
    let size = datagrams.reduce(0) { $0 + $1.count } / datagrams.count
    let subject = SessionSubject.carom(.datagrams)
    let server = try SessionSide(subject, .stand, [hostCore, "size=\(size)"])
    return try await ending(server) {
      let port = try await server.ready()
      let flood = try SessionSide(
        subject, .flood, ["port=\(port)", "kind=\(kind.rawValue)", otherCore])
      return try await ending(flood) { try await server.figures(within: .seconds(20)) }
    }
  }

  /// A player's round trips, with a flood beside it or without.
  static func measurePlayer(floodRate: Int) async throws -> SessionFigures {
    let subject = SessionSubject.carom(.datagrams)
    let server = try SessionSide(subject, .answer, [hostCore])
    return try await ending(server) {
      let port = try await server.ready()
      let player = {
        let player = try SessionSide(subject, .ask, ["port=\(port)", otherCore] + asking)
        return try await ending(player) { try await player.figures(within: .seconds(60)) }
      }
      guard floodRate > 0 else { return try await player() }
      let flood = try SessionSide(
        subject, .flood, ["port=\(port)", "kind=hello", "rate=\(floodRate)", otherCore])
      return try await ending(flood) {
        try await flood.ready()
        return try await player()
      }
    }
  }

  private static func ending<Value>(
    _ side: SessionSide, _ body: () async throws -> Value
  ) async throws -> Value {
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    await side.end()
    return try result.get()
  }
}
