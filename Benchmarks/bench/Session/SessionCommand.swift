import ArgumentParser
import BenchProbe

/// Sessions beside ENet, kernel TCP and plain datagrams.
struct SessionCommand: AsyncParsableCommand {
  /// What is measured.
  enum Scenario: String, ExpressibleByArgument, CaseIterable, Sendable {
    case counts, costs, echo, game, coalesced, loops, flood, crowd
    case bulk, small, states, mixed, migration, fair

    /// Whether it needs a path between two hosts.
    var isLossy: Bool { [.bulk, .small, .states, .mixed, .migration, .fair].contains(self) }
  }

  static let configuration = CommandConfiguration(
    commandName: "session",
    abstract: "Sessions beside ENet, kernel TCP and plain datagrams: cost, latency, goodput.",
    discussion: """
      On virtual time: counts, bytes and allocations of our own packets. On loopback, each side \
      on a core of its own: costs, what the kernel takes for a 100-byte datagram; echo, round \
      trips of 64 bytes, one each 50 us; game, a server that takes 60 bytes from each player and \
      gives it 300, 60 times a second; coalesced, 100-byte messages as fast as they go; loops, \
      200 players of a server with one loop and with two; flood, datagrams of strangers as many \
      as go, and a player beside 100,000 of them a second; crowd, 4,096 players at 20 Hz. As \
      root, \
      over a path between two network namespaces (50 ms and 20 Mbit/s each way, a queue of 250 \
      KB, loss each way): bulk, reliable goodput; small, 60 reliable messages of 60 bytes a \
      second, one way; states, 60 of 300 bytes a second, the age of the newest; mixed, small \
      ones beside bulk; migration, small ones whose sender gets another port halfway; fair, \
      reliable bulk beside a flow of TCP CUBIC, without loss, one of them two seconds before \
      the other. Wire is bytes of IP on the path by bytes of payload.
      """)

  @Option(help: ArgumentHelp("Only this scenario; may be repeated.", valueName: "name"))
  var scenario: [Scenario] = []

  @Option(parsing: .upToNextOption, help: "Percent that are lost each way.")
  var loss: [Double] = [0, 1, 5, 10, 20]

  @Option(parsing: .upToNextOption, help: "Players of one server.")
  var peers: [Int] = [100, 400, 1_000]

  @Option(help: "Rounds; medians are reported.")
  var rounds = 1

  @Option(help: "Seconds that count, of each measurement over the path.")
  var seconds = 10

  @Flag(help: "Leave ENet, TCP and plain datagrams out.")
  var withoutPeers = false

  @Flag(help: "Only count bytes and allocations, and fail where a threshold is exceeded.")
  var check = false

  @Option(help: "The file of thresholds.")
  var thresholds = "Benchmarks/Thresholds/session.json"

  @Flag(help: "One JSON object on one line.")
  var json = false

  func validate() throws {
    guard rounds > 0, seconds > 0, loss.allSatisfy({ (0..<100).contains($0) }),
      peers.allSatisfy({ (1...4_000).contains($0) })
    else { throw ValidationError("rounds and seconds from 1, loss below 100, peers to 4000") }
  }

  func run() async throws {
    if check { return try checkCounts() }
    _ = bench_raise_descriptor_limit()
    var run = SessionRun(self)
    var wanted = scenario.isEmpty ? Scenario.allCases : scenario
    if let shortcoming = DiscoveryLab.shortcoming, wanted.contains(where: \.isLossy) {
      run.report.remarks.append("no path with loss: \(shortcoming)")
      wanted.removeAll(where: \.isLossy)
    }
    await run.findSubjects()
    for scenario in Scenario.allCases where wanted.contains(scenario) {
      progress(scenario.rawValue)
      await run.measure(scenario)
    }
    run.print(json: json)
  }

  private func checkCounts() throws {
    guard let limits = try? SessionThresholds.read(thresholds) else {
      throw ValidationError("no thresholds in \(thresholds): name their file with --thresholds")
    }
    let counts = limits.counts(of: SessionCounts())
    for count in counts {
      print("\(count.what): \(Report.text(count.count)), allowed are \(Report.text(count.limit))")
    }
    #if DEBUG
      print("built without optimisation: the counts are not those of a release")
    #endif
    if counts.contains(where: { !($0.count <= $0.limit) }) { throw ExitCode.failure }
  }
}
