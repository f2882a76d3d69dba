import CaromCore
import CaromFleet
import CaromPlacement
import CaromTransport
import TestRedis

/// How fast matches are placed.
struct FleetPlacing: Sendable {
  /// How many matches are placed one after another.
  private static let samples = 2_000

  /// The time of placing one match, in microseconds: half of the times are shorter, and 99 of 100.
  var median = 0.0
  var tail = 0.0
  /// In how many seconds all matches were placed.
  var time = 0.0

  static func measure(_ matches: Int) async throws -> FleetPlacing {
    try await FleetHosts.withServer { server, loop in
      var result = FleetPlacing()
      let first = try await FleetHosts(in: FleetAddress(server.fleet("one")), on: loop)
      let times = try await first.renewing {
        var times: [Double] = []
        for match in 0..<samples {
          let start = loop.now
          _ = try await first.place(match)
          times.append(start.duration(to: loop.now).inSeconds * 1e6)
        }
        return times.sorted()
      }
      await first.directory.close()
      result.median = times[times.count / 2]
      result.tail = times[times.count * 99 / 100]
      let hosts = try await FleetHosts(in: FleetAddress(server.fleet("many")), on: loop)
      result.time = try await hosts.renewing {
        let start = loop.now
        _ = try await FleetHosts.concurrently(matches) { match in try await hosts.place(match) }
        return start.duration(to: loop.now).inSeconds
      }
      await hosts.directory.close()
      return result
    }
  }
}

/// How evenly matches are placed, and how much memory they need in the directory. The directory's
/// clock stands still, so that a busy machine does not change the counts.
struct FleetCounts: Sendable {
  private static let clock = "local function clock() return 1790000000000 end"

  /// How many matches the busiest host has.
  let busiest: Double
  /// The server's memory for a match with two players and a checkpoint, in bytes.
  let memory: Double

  static func count(_ matches: Int) async throws -> FleetCounts {
    try await FleetHosts.withServer { server, loop in
      let library = RedisFunction.library(clock: clock)
      _ = try await FleetServerInfo.send("FUNCTION", "LOAD", library, to: server, on: loop)
      let hosts = try await FleetHosts(in: FleetAddress(server.fleet()), on: loop)
      let before = try await FleetServerInfo(of: server, on: loop).number("used_memory")
      let claims = try await FleetHosts.concurrently(matches) { try await hosts.place($0) }
      let busiest = try await hosts.directory.status().hosts.map(\.matches).max() ?? 0
      _ = try await FleetHosts.concurrently(matches) { match in
        if let claim = claims[match] { try await hosts.play(match, claim) }
      }
      let after = try await FleetServerInfo(of: server, on: loop).number("used_memory")
      await hosts.directory.close()
      return FleetCounts(busiest: Double(busiest), memory: (after - before) / Double(matches))
    }
  }
}
