import BenchProbe
import CaromCore
import CaromFleet
import CaromPlacement
import CaromTransport
import TestRedis

/// What a host costs that stores the checkpoints of its matches each second.
struct FleetCheckpoints: Sendable {
  private static let matches = 50

  /// Bytes a second from and to the host, without the headers of TCP and IP.
  var sent = 0.0
  var received = 0.0
  /// The processor time of this process, as a share of a core.
  var processor = 0.0

  /// The bytes that a host sends in a second, counted without a server.
  static var bytes: Double {
    let record = FleetHosts.record(0)
    let fleet = MatchID("bench")!
    var now = Instant.zero
    var host = FleetHost(record, run: .max, at: now)
    host.handleTimeout(at: now)
    while host.pollRequest() != nil {}
    host.handle(.registered(RegistrationResult()), on: 1, at: now)
    // As large as the numbers of claims are in the year 2026.
    let claims = (0..<matches).map {
      MatchClaim(FleetHosts.request($0).match, host: record.id, number: 1_790_000_000_000)
    }
    for (match, claim) in claims.enumerated() {
      for player in FleetHosts.request(match).players {
        _ = host.admit(player, with: claim, at: now)
      }
    }
    host.handleTimeout(at: now)
    while host.pollRequest() != nil {}
    now = now + PlacementRules.renewalInterval
    // After an hour at 60 ticks a second.
    for claim in claims { host.save(FleetHosts.checkpoint(216_000), of: claim.match, at: now) }
    host.handleTimeout(at: now)
    var count = 0
    while let request = host.pollRequest() {
      count += RedisCommand.encode(request.command, fleet: fleet).count
    }
    return Double(count)
  }

  static func measure(seconds: Int) async throws -> FleetCheckpoints {
    try await FleetHosts.withServer { server, loop in
      try await measure(server, seconds, on: loop)
    }
  }

  private static func measure(
    _ server: RedisServer, _ seconds: Int, on loop: NetworkLoop
  ) async throws -> FleetCheckpoints {
    let address = try FleetAddress(server.fleet("bench"))
    let directory = FleetDirectory(address, on: loop)
    let host = FleetMembership(of: FleetHosts.record(0), in: address, keys: [], on: loop)
    await host.join()
    for await event in host.events where event == .host(.registered) { break }
    var claims: [MatchClaim] = []
    for match in 0..<matches {
      let request = FleetHosts.request(match)
      let claim = try await directory.place(request).get().claim
      for player in request.players { _ = await host.admit(player, with: claim) }
      claims.append(claim)
    }
    let before = try await FleetServerInfo(of: server, on: loop)
    let (start, cpu) = (loop.now, bench_process_cpu_nanoseconds())
    for second in 0..<seconds {
      // A little before the next renewal each time.
      for claim in claims {
        await host.save(FleetHosts.checkpoint(UInt64(216_000 + second)), of: claim.match)
      }
      try await loop.sleep(until: start + .seconds(second + 1))
    }
    let time = start.duration(to: loop.now).inSeconds
    let processor = Double(bench_process_cpu_nanoseconds() - cpu) / 1e9 / time
    let after = try await FleetServerInfo(of: server, on: loop)
    await host.withdraw()
    await directory.close()
    func difference(_ name: String) throws -> Double {
      try after.number(name) - before.number(name)
    }
    // What the server has told about itself before was sent after it had counted.
    let received = try difference("total_net_output_bytes") - Double(before.length)
    return FleetCheckpoints(
      sent: try difference("total_net_input_bytes") / time, received: received / time,
      processor: processor)
  }
}
