import ArgumentParser
import BenchProbe

/// Compares Carom's discovery with Avahi and python-zeroconf on a LAN of network namespaces.
struct DiscoveryCommand: AsyncParsableCommand {
  /// A scenario to measure.
  enum Scenario: String, ExpressibleByArgument, CaseIterable, Sendable {
    case pairs, unique, hosts, services, many, loss, faults, flood, neighbor, bursts,
      registrations
  }

  static let configuration = CommandConfiguration(
    commandName: "discovery",
    abstract:
      "Compares discovery with avahi and python-zeroconf on an emulated LAN: times, packets.",
    discussion: """
      Needs root. Each measurement has its own LAN of network namespaces, and nothing reaches \
      the machine's interfaces. Times are medians, from the call to the event.

      pairs: a service is published while a browser runs, then withdrawn, and then browsed by a \
      host with an empty cache; unique: a service whose name needs no probes; hosts, services: \
      many of them; many: 250 hosts with four services each; loss: the browser's host loses 20 \
      and 50 % of the packets in each direction; faults: conflicts, cables, crashes; flood: \
      60,000 unsolicited records; neighbor: the browses of a daemon on the same host, with and \
      without Carom; bursts: many hosts that want one name, TXT changes, services that end \
      together; registrations: services in a domain that BIND serves on loopback. The times \
      of avahi include the start of its tools.
      """)

  @Option(help: ArgumentHelp("Measure only this scenario; may be repeated.", valueName: "name"))
  var scenario: [Scenario] = []

  @Option(help: "Rounds of each pair of implementations and of each fault.")
  var rounds = 4

  @Option(help: "Hosts with one service each, in the scenario hosts.")
  var hosts = 50

  @Option(help: "Services of one host, in the scenario services.")
  var services = 300

  @Flag(help: "Use IPv4 alone; otherwise each host has IPv4 and IPv6.")
  var v4 = false

  @Flag(help: "Measure everything: 250 hosts, more samples under loss, every pair.")
  var full = false

  @Flag(help: "Measure Carom alone, without avahi and python-zeroconf.")
  var withoutPeers = false

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  func validate() throws {
    guard rounds > 0, (1...240).contains(hosts), (1...1_000).contains(services) else {
      throw ValidationError("--rounds must be at least 1, --hosts 1 to 240, --services 1 to 1000")
    }
  }

  func run() async throws {
    if let shortcoming = NetworkLab.shortcoming { throw ValidationError(shortcoming) }
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
