import CaromCore
import CaromFleet
import CaromPlacement
import CaromTransport
import TestRedis

/// How long it takes until hosts have registered again after their server was started again.
struct FleetRestart: Sendable {
  private static let hosts = 8

  /// In seconds, of all restarts.
  var median = 0.0
  var longest = 0.0

  static func measure(_ restarts: Int) async throws -> FleetRestart {
    try await FleetHosts.withServer { server, loop in
      try await measure(server, restarts, on: loop)
    }
  }

  private static func measure(
    _ server: RedisServer, _ restarts: Int, on loop: NetworkLoop
  ) async throws -> FleetRestart {
    let address = try FleetAddress(server.fleet("bench"))
    let members = (0..<hosts).map {
      FleetMembership(of: FleetHosts.record($0), in: address, keys: [], on: loop)
    }
    var iterators = members.map { $0.events.makeAsyncIterator() }
    for member in members { await member.join() }
    var times: [Double] = []
    for round in 0...restarts {
      let start = loop.now
      for index in iterators.indices {
        while let event = await iterators[index].next(), event != .host(.registered) {}
      }
      // The first round only registers the hosts.
      if round > 0 { times.append(start.duration(to: loop.now).inSeconds) }
      guard round < restarts else { break }
      server.stop()
      // Long enough for the longest delay between two attempts.
      try await loop.sleep(until: loop.now + .seconds(2))
      try server.start()
    }
    for member in members { await member.withdraw() }
    return FleetRestart(median: bench.median(times), longest: times.max() ?? .nan)
  }
}
