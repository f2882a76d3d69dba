import ArgumentParser
import BenchProbe
import Carom

/// Plays matches at 60 Hz over loopback TCP, with one core for all of them.
struct FramesCommand: AsyncParsableCommand {
  /// The simulation that each match runs.
  enum Simulation: String, ExpressibleByArgument, CaseIterable, Sendable {
    case hockey, entities
  }

  static let configuration = CommandConfiguration(
    commandName: "frames",
    abstract:
      "Plays matches at 60 Hz over loopback: frames a second, their age, bytes and CPU time.")

  @Option(help: "The number of matches that one server thread hosts, each with one client.")
  var matches = 32

  @Option(help: "Measured seconds in each round.")
  var seconds = 5

  @Option(help: "Rounds, each over sessions and over bare TCP streams; medians are reported.")
  var rounds = 3

  @Option(help: "The simulation that each match runs.")
  var simulation = Simulation.hockey

  @Option(help: "Entities in each world (with --simulation entities).")
  var entities = 100

  @Option(
    help: "Seconds to search for the most matches that one core sustains; 0 skips the search.")
  var search = 20

  @Flag(help: "Tick as soon as all inputs have arrived, to measure the cost without idle time.")
  var lockstep = false

  @Flag(help: "Only count bytes and allocations, and fail if one exceeds its threshold.")
  var check = false

  @Option(help: "The JSON file with the thresholds.")
  var thresholds = "Benchmarks/Thresholds/frames.json"

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  func validate() throws {
    guard (1...Host.connectionLimit).contains(matches) else {
      throw ValidationError("--matches must be between 1 and \(Host.connectionLimit)")
    }
    guard seconds > 0, rounds > 0, search >= 0 else {
      throw ValidationError("--seconds and --rounds must be at least 1, --search at least 0")
    }
    guard (1...10_000).contains(entities) else {
      throw ValidationError("--entities must be between 1 and 10000")
    }
  }

  func run() async throws {
    let descriptors = Int(clamping: bench_raise_descriptor_limit())
    if check { return try await checkCounts() }
    var machine = Machine()
    let (session, bare) = try await measure(&machine)
    var report = Report(title: "bench frames: \(subject), \(matches) matches, \(rounds) rounds")
    report.isTransposed = true
    report.summary = summary(of: session)
    report.add(session, as: "session")
    report.add(bare, as: "bare streams")
    report.addRatio(of: session, to: bare)
    addOverload(session, to: &report)
    // The number of matches that one core has time for, if it does nothing else.
    let cost = median(session.map(\.cpuMicroseconds))
    var core = [
      Report.Figure(
        "time for, matches", (1e6 / Double(FramesSetup.hertz) / cost).rounded(),
        heading: "matches by CPU time")
    ]
    if search > 0 { core += try await searchFigures(of: &report, descriptors) }
    report.rows.append(Report.Row(name: "one core", figures: core))
    machine.sampleNoise()
    if let remark = machine.busyRemark { report.remarks.append(remark) }
    report.machine = machine.line
    report.print(json: json)
  }

  /// What a player would see, and what the rows compare.
  private func summary(of rounds: [FramesFigures]) -> [String] {
    let rate = Report.text(median(rounds.map { $0.framesPerSecond / Double($0.matches) }))
    let lost = rounds.map(\.lostFrames).reduce(0, +)
    let all = rounds.map { $0.matches * $0.server.ticks }.reduce(0, +)
    let cost = Report.text(median(rounds.map(\.cpuMicroseconds)))
    return [
      "\(rate) frames a second in each of \(matches) \(matches == 1 ? "match" : "matches"), "
        + "\(lost == 0 ? "none" : "\(lost) of \(all)") lost, \(cost) us of a core each",
      "A frame is one state of one match, simulated, sent and decoded. \"Bare streams\" sends the "
        + "same bytes over plain TCP: the ratio shows what sessions cost.",
    ]
  }

  /// Adds a remark if the server did not keep up in one of the rounds.
  private func addOverload(_ rounds: [FramesFigures], to report: inout Report) {
    let lostClients = rounds.map(\.server.lostClients).max() ?? 0
    if lostClients > 0 {
      report.remarks.append("\(FramesOverload(wanted: matches, joined: matches - lostClients))")
    } else if !lockstep, !rounds.allSatisfy(\.isSustained) {
      report.remarks.append(
        "this machine did not keep up with \(matches) matches: run again with fewer, as in "
          + "--matches \(max(1, matches * 3 / 4))")
    }
  }

  private var subject: String {
    simulation == .hockey ? "air hockey" : "worlds of \(entities) entities"
  }

  private func play(_ setup: FramesSetup) async throws -> FramesFigures {
    switch simulation {
    case .hockey: try await setup.run(HockeyWorld.self)
    case .entities: try await setup.run(EntityWorld.self)
    }
  }

  private func makeSetup(_ matches: Int, seconds: Int) -> FramesSetup {
    FramesSetup(matches: matches, ticks: seconds * FramesSetup.hertz, entities: entities)
  }

  private func measure(
    _ machine: inout Machine
  ) async throws -> (session: [FramesFigures], bare: [FramesFigures]) {
    var session: [FramesFigures] = []
    var bare: [FramesFigures] = []
    var setup = makeSetup(matches, seconds: seconds)
    if lockstep { setup.pace = .lockstep }
    for round in 1...rounds {
      progress("round \(round) of \(rounds)")
      machine.sampleNoise()
      setup.carrier = .session
      session.append(try await play(setup))
      setup.carrier = .bare
      bare.append(try await play(setup))
    }
    return (session, bare)
  }

  private func searchFigures(
    of report: inout Report, _ descriptors: Int
  ) async throws -> [Report.Figure] {
    let limit = max(1, min(Host.connectionLimit, (descriptors - 64) / 2))
    let search = FramesSearch(limit: limit, deadline: .now + .seconds(search)) { matches in
      do {
        return try await play(makeSetup(matches, seconds: 2)).isSustained
      } catch is FramesOverload {
        return false
      }
    }
    let result = try await search.run(from: min(64, limit))
    if result.failed == nil {
      report.remarks.append(
        "the search ended before it found the core's limit: give it more time with --search")
    }
    return [.init("sustains, matches", Double(result.matches), heading: "matches sustained")]
  }

  private func checkCounts() async throws {
    guard let limits = try? FramesThresholds.read(thresholds) else {
      throw ValidationError(
        "cannot read thresholds from \(thresholds): name the file with --thresholds")
    }
    var setup = makeSetup(16, seconds: 10)
    setup.pace = .lockstep
    let figures = try await play(setup)
    let lines = limits.violations(by: figures, of: simulation.rawValue)
    for line in lines { print(line) }
    if lines.isEmpty { print(figures.counts(of: simulation.rawValue)) }
    #if DEBUG
      print(Report.debugBuildWarning)
    #endif
    if !lines.isEmpty { throw ExitCode.failure }
  }
}

extension Report {
  mutating func add(_ rounds: [FramesFigures], as name: String) {
    func middle(_ value: (FramesFigures) -> Double) -> Double { median(rounds.map(value)) }
    func time(_ percent: Int, _ samples: @escaping (FramesFigures) -> [Duration]) -> Double {
      middle { FramesFigures.percentile(percent, of: samples($0)).inMilliseconds }
    }
    add(
      name,
      .init("match-ticks", middle(\.ticksPerSecond), "1/s", heading: "frames made"),
      .init("frames", middle(\.framesPerSecond), "1/s", heading: "frames that arrived"),
      .init("lost ticks", middle { Double($0.server.lostTicks) }),
      .init("jitter p50", time(50) { $0.server.lateness }, "ms"),
      .init("jitter p99", time(99) { $0.server.lateness }, "ms"),
      .init("age p50", time(50) { $0.ages }, "ms"),
      .init("age p99", time(99) { $0.ages }, "ms"),
      .init("bytes down", middle(\.bytesDown), "1/frame"),
      .init("bytes up", middle(\.bytesUp), "1/frame"),
      .init("server CPU", middle(\.cpuMicroseconds), "us/frame"),
      .init("allocations", middle(\.allocations), "1/frame"))
  }

  /// Adds the server's processor time over sessions, divided by that over bare streams.
  mutating func addRatio(of session: [FramesFigures], to bare: [FramesFigures]) {
    let ratios = zip(session, bare).map { $0.cpuMicroseconds / $1.cpuMicroseconds }
    add("session/bare", .init("server CPU", median(ratios), "us/frame"))
  }
}
