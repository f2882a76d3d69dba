import ArgumentParser
import BenchProbe

/// Discovery on a LAN of network namespaces, beside avahi and python-zeroconf.
struct DiscoveryCommand: AsyncParsableCommand {
  /// What is measured.
  enum Scenario: String, ExpressibleByArgument, CaseIterable, Sendable {
    case pairs, unique, hosts, services, many, loss, faults, flood
  }

  static let configuration = CommandConfiguration(
    commandName: "discovery",
    abstract: "Finding services on a lab LAN beside avahi and python-zeroconf: times and packets.",
    discussion: """
      Needs root: each measurement has a LAN of its own out of network namespaces, and nothing \
      reaches the machine's interfaces. Times are medians, from the call to the event. pairs: a \
      service is published while a browser runs, taken back, and browsed by a host without \
      knowledge; hosts, services: many of them; many: 250 hosts with four services each; loss: \
      the browser's host loses 20 and 50 % each way; faults: conflicts, cables, crashes; flood: \
      60,000 records that nobody asked for. avahi's times have its tools' start inside.
      """)

  @Option(help: ArgumentHelp("Only this scenario; may be repeated.", valueName: "name"))
  var scenario: [Scenario] = []

  @Option(help: "Rounds of each pair and each fault.")
  var rounds = 4

  @Option(help: "Hosts with one service each.")
  var hosts = 50

  @Option(help: "Services of one host.")
  var services = 300

  @Flag(help: "IPv4 alone; otherwise every host has both.")
  var v4 = false

  @Flag(help: "Everything: 250 hosts, more samples under loss, every pair of implementations.")
  var full = false

  @Flag(help: "Leave avahi and python-zeroconf out.")
  var withoutPeers = false

  @Flag(help: "One JSON object on one line.")
  var json = false

  func validate() throws {
    guard rounds > 0, (1...240).contains(hosts), (1...1_000).contains(services) else {
      throw ValidationError("rounds from 1, hosts from 1 to 240, services from 1 to 1000")
    }
  }

  func run() async throws {
    if let shortcoming = DiscoveryLab.shortcoming { throw ValidationError(shortcoming) }
    _ = bench_raise_descriptor_limit()
    var wanted = Set(scenario.isEmpty ? Scenario.allCases : scenario)
    if scenario.isEmpty, !full { wanted.remove(.many) }
    var run = DiscoveryRun(
      stack: v4 ? .v4 : .dual, rounds: rounds, isFull: full,
      title: "bench discovery: \(v4 ? "IPv4" : "IPv4 and IPv6"), medians of \(rounds) rounds")
    if !withoutPeers { await run.findPeers() }
    for scenario in Scenario.allCases where wanted.contains(scenario) {
      progress("\(scenario.rawValue)")
      do {
        if scenario == .loss, wanted.remove(.faults) != nil {
          try await run.measureLossAndFaults()
        } else {
          try await run.measure(scenario, hosts: hosts, services: services)
        }
      } catch {
        run.report.remarks.append("\(scenario.rawValue) failed: \(error)")
      }
    }
    run.print(json: json)
  }
}
