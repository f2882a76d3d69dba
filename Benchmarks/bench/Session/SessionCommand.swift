import ArgumentParser
import BenchProbe

/// Compares Carom's sessions with ENet, kernel TCP and plain datagrams.
struct SessionCommand: AsyncParsableCommand {
  /// A scenario to measure.
  enum Scenario: String, ExpressibleByArgument, CaseIterable, Sendable {
    case counts, costs, echo, game, coalesced, loops, flood, crowd
    case bulk, small, states, mixed, migration, fair

    /// Whether the scenario needs an emulated path between two hosts.
    var isLossy: Bool { [.bulk, .small, .states, .mixed, .migration, .fair].contains(self) }
  }

  static let configuration = CommandConfiguration(
    commandName: "session",
    abstract: "Compares sessions with ENet, kernel TCP and plain UDP: cost, latency, goodput.",
    discussion: """
      On virtual time, without sockets: counts, the bytes and allocations of Carom's packets.

      On loopback, with each side on its own core: costs, the kernel's time for a 100-byte \
      datagram; echo, round trips of 64 bytes every 50 us; game, a server that receives 60 bytes \
      from each player and sends 300 bytes to each, 60 times a second; coalesced, 100-byte \
      messages at full speed; loops, 200 players of a server on one loop and on two, and 100 on \
      one; flood, datagrams from unvalidated addresses at full speed, and a player's round trips \
      beside 100,000 of them a second; crowd, 4,096 players at 20 Hz.

      As root, over an emulated path between two network namespaces (50 ms and 20 Mbit/s in each \
      direction, a queue of 250 KB, loss in both directions): bulk, reliable goodput; small, 60 \
      reliable messages of 60 bytes a second in one direction; states, 60 unreliable messages of \
      300 bytes a second, by the age of the newest; mixed, small messages beside bulk; \
      migration, small messages whose sender changes its port halfway; fair, reliable bulk \
      beside a flow of TCP CUBIC, without loss, one started two seconds before the other.

      Wire is the bytes of IP packets on the path, divided by the bytes of payload.
      """)

  @Option(help: ArgumentHelp("Measure only this scenario; may be repeated.", valueName: "name"))
  var scenario: [Scenario] = []

  @Option(parsing: .upToNextOption, help: "Percent of packets lost in each direction.")
  var loss: [Double] = [0, 1, 5, 10, 20]

  @Option(parsing: .upToNextOption, help: "Numbers of players of one server.")
  var peers: [Int] = [100, 400, 1_000]

  @Option(help: "Rounds; medians are reported.")
  var rounds = 1

  @Option(help: "Measured seconds of each measurement over the emulated path.")
  var seconds = 10

  @Flag(help: "Measure Carom alone, without ENet, TCP and plain UDP.")
  var withoutPeers = false

  @Flag(help: "Only count bytes, system calls and allocations, and fail beyond the thresholds.")
  var check = false

  @Option(help: "The JSON file with the thresholds.")
  var thresholds = "Benchmarks/Thresholds/session.json"

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  func validate() throws {
    guard rounds > 0, seconds > 0, loss.allSatisfy({ (0..<100).contains($0) }),
      peers.allSatisfy({ (1...4_000).contains($0) })
    else {
      throw ValidationError(
        "--rounds and --seconds must be at least 1, --loss below 100, --peers from 1 to 4000")
    }
  }

  func run() async throws {
    if check { return try await checkCounts() }
    _ = bench_raise_descriptor_limit()
    var run = SessionRun(self)
    var wanted = scenario.isEmpty ? Scenario.allCases : scenario
    if let shortcoming = NetworkLab.shortcoming, wanted.contains(where: \.isLossy) {
      run.report.remarks.append("scenarios with a lossy path were skipped: \(shortcoming)")
      wanted.removeAll(where: \.isLossy)
    }
    await run.findSubjects()
    for scenario in Scenario.allCases where wanted.contains(scenario) {
      progress(scenario.rawValue)
      await run.measure(scenario)
    }
    run.print(json: json)
  }

  /// Prints ENet's instructions and cache misses, and Carom's as multiples of them.
  private func printENet(beside carom: SessionInstructions) async throws {
    guard let enet = try await SessionInstructions.measureENet() else {
      return print("ENet's instructions were not counted: \(SessionENet.remedy)")
    }
    func text(_ ours: Double, _ theirs: Double) -> String {
      "\(Report.text(theirs)) (Carom: \(Report.text(ours / theirs)) times as many)"
    }
    print("ENet's instructions a peer-tick: \(text(carom.instructions, enet.instructions))")
    print("ENet's cache misses a peer-tick: \(text(carom.cacheMisses, enet.cacheMisses))")
  }

  private func checkCounts() async throws {
    guard let limits = try? SessionThresholds.read(thresholds) else {
      throw ValidationError(
        "cannot read thresholds from \(thresholds): name the file with --thresholds")
    }
    var counts = limits.counts(of: SessionCounts())
    for link in SessionCarom.Link.allCases {
      counts += limits.counts(of: try await SessionTurnCounts.measure(over: link), over: link)
    }
    if let instructions = try await SessionInstructions.measure() {
      counts += limits.counts(of: instructions)
      try await printENet(beside: instructions)
    } else {
      print("instructions were not counted: apt-get install valgrind, then build again")
    }
    for count in counts {
      print(
        "\(count.what): \(Report.text(count.count)), at most \(Report.text(count.limit)) allowed")
    }
    #if DEBUG
      print(Report.debugBuildWarning)
    #endif
    if counts.contains(where: { !($0.count <= $0.limit) }) { throw ExitCode.failure }
  }
}
