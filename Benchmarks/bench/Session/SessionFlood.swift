import BenchProbe
import Carom

/// Floods of datagrams from unvalidated addresses: measures their cost for a host and their effect
/// on its players.
enum SessionFlood {
  /// The rate of the flood that players have to bear, in datagrams a second.
  static let rate = 100_000
  /// The number of encrypted seats whose cost is measured.
  private static let seats = 1_024
  private static let hostCore = "core=0"
  private static var otherCore: String { "core=\(EchoCommand.loadCore)" }
  /// Options of the player: round trips, one every 200 us.
  private static let asking = ["count=10000", "interval=0.0002", "mode=unreliable", "spin=0"]

  /// Measures the protocol machine without sockets: time and memory for each kind of datagram.
  static func measureMachine() -> SessionFigures {
    var figures = SessionFigures()
    for kind in SessionUnvalidatedSenders.Kind.allCases {
      let datagrams = SessionUnvalidatedSenders.datagrams(kind)
      figures[kind.rawValue] = SessionUnvalidatedSenders.nanoseconds(of: datagrams)
      figures["\(kind.rawValue)_worst"] =
        datagrams.map { SessionUnvalidatedSenders.nanoseconds(of: [$0]) }.max() ?? .nan
    }
    for kind in SessionUnvalidatedSenders.Kind.allCases {
      figures["\(kind.rawValue)_encrypted"] = SessionUnvalidatedSenders.nanoseconds(
        of: SessionUnvalidatedSenders.datagrams(kind, isEncrypted: true), isEncrypted: true)
    }
    for seat in SessionSeat.allCases where seat != .plaintext {
      figures["accept_\(seat.rawValue)"] =
        SessionAdmissions.nanoseconds(seat, count: seats)?.all ?? .nan
    }
    if let accept = SessionAdmissions.nanoseconds(count: Host.connectionLimit) {
      figures["accept"] = accept.all
      figures["accept_late"] = accept.late
    }
    figures["held"] = SessionUnvalidatedSenders.heldBytes()
    return figures
  }

  /// Measures over sockets a server that receives as many datagrams as it can.
  static func measureStand(_ kind: SessionUnvalidatedSenders.Kind) async throws -> SessionFigures {
    let datagrams = SessionUnvalidatedSenders.datagrams(kind)
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

  /// Measures a player's round trips while a flood of `floodRate` datagrams a second runs; 0 means
  /// no flood.
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
