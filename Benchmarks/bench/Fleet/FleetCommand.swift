import ArgumentParser
import CaromCore
import CaromPlacement
import TestRedis

/// Measures the directory of a fleet in a Redis server on loopback.
struct FleetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Measures a fleet's directory in Redis: placing, checkpoints, memory, restarts.",
    discussion: """
      Needs redis-server, which this command starts and ends. The directory knows 100 hosts, which \
      renew their leases each second. Matches have 2 players and a state of 89 bytes.

      The server and this process have one thread each. Matches are placed one after another, then \
      by 64 tasks at a time. The cost of a host is that of 50 matches whose checkpoints are stored \
      each second.
      """)

  @Option(help: "How many matches are placed in each measurement.")
  var matches = 10_000

  @Option(help: "Seconds for which the cost of a host is measured.")
  var seconds = 5

  @Option(help: "How often the server is stopped and started again.")
  var restarts = 5

  @Flag(help: "Only count, and fail if a count exceeds its threshold.")
  var check = false

  @Option(help: "The JSON file with the thresholds.")
  var thresholds = "Benchmarks/Thresholds/fleet.json"

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  func validate() throws {
    guard 100...50_000 ~= matches, seconds > 0, restarts > 0 else {
      throw ValidationError(
        "--matches must be 100 to 50000, and --seconds and --restarts at least 1")
    }
  }

  func run() async throws {
    let sent = ("bytes that a host sends each second for 50 matches", FleetCheckpoints.bytes)
    guard RedisServer.path != nil else {
      guard check else { throw BenchmarkFailure(RedisServer.need) }
      print("\(RedisServer.need): only bytes are counted")
      return try WorldThresholds.check([sent], thresholds)
    }
    if check {
      // The thresholds are those of so many matches.
      let counts = try await FleetCounts.count(10_000)
      let all = [
        sent, ("matches at the busiest of 100 hosts", counts.busiest),
        ("bytes of a match in the directory", counts.memory),
      ]
      return try WorldThresholds.check(all, thresholds)
    }
    try await measure(sent.1)
  }

  private func measure(_ bytes: Double) async throws {
    var machine = Machine()
    var report = Report(title: "bench fleet: the directory of 100 hosts in Redis")
    var goals: [BenchmarkGoal] = []
    machine.sampleNoise()
    progress("\(matches) matches are counted")
    let counts = try await FleetCounts.count(matches)
    let excess = counts.busiest * Double(FleetHosts.count) / Double(matches) - 1
    report.add(
      "counts", .init("busiest host", counts.busiest, "matches"),
      .init("memory of a match", counts.memory, "B"),
      .init("a host with 50 matches sends", bytes, "B/s"))
    progress("\(matches) matches are placed")
    do {
      let placed = try await FleetPlacing.measure(matches)
      let rate = Double(matches) / placed.time
      report.beginTable()
      report.add(
        "placing", .init("p50", placed.median, "us"), .init("p99", placed.tail, "us"),
        .init("a second", rate), .init("all", placed.time, "s"))
      goals += [
        BenchmarkGoal("place, one at a time, p50", placed.median, "us", .atMost, 300),
        BenchmarkGoal("place, one at a time, p99", placed.tail, "us", .atMost, 2_000),
        BenchmarkGoal("placed a second", rate, "matches", .atLeast, 20_000),
        BenchmarkGoal("\(matches) matches placed", placed.time, "s", .atMost, 2),
      ]
    } catch {
      // On a machine that is too busy, the hosts' leases end.
      report.remarks.append("placing was not measured: \(error)")
    }
    machine.sampleNoise()
    progress("50 matches are stored each second for \(seconds) s")
    let cost = try await FleetCheckpoints.measure(seconds: seconds)
    report.beginTable()
    report.add(
      "a host with 50 matches", .init("sent", cost.sent, "B/s"),
      .init("received", cost.received, "B/s"), .init("CPU", cost.processor * 100, "%"))
    machine.sampleNoise()
    progress("the server is started again \(restarts) times")
    let restart = try await FleetRestart.measure(restarts)
    report.beginTable()
    report.add(
      "after a restart", .init("median", restart.median, "s"),
      .init("longest", restart.longest, "s"))
    machine.sampleNoise()
    goals += [
      BenchmarkGoal("busiest host above the mean", excess * 100, "%", .atMost, 5),
      BenchmarkGoal("memory of a match in the directory", counts.memory, "B", .atMost, 1_536),
      BenchmarkGoal("CPU of a host with 50 matches", cost.processor * 100, "%", .atMost, 1),
      BenchmarkGoal(
        "traffic of a host with 50 matches", (cost.sent + cost.received) / 1e3, "kB/s", .atMost,
        60),
      BenchmarkGoal("registered again after a restart", restart.longest, "s", .atMost, 2),
    ]
    report.sessionGoals = goals
    if let remark = machine.busyRemark { report.remarks.append(remark) }
    report.machine = machine.line
    report.print(json: json)
  }
}
