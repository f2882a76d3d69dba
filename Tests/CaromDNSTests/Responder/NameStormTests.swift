import CaromCore
import CaromDNS
import CaromTesting
import Foundation
import Testing

private let environment = ProcessInfo.processInfo.environment

/// Many hosts that are switched on at the same time and want the same names.
@Suite struct NameStormTests {
  /// What the hosts have in common.
  enum Shared: CaseIterable {
    /// Their services' names.
    case service
    /// Their host names, and the names and ports of their services.
    case everything
  }

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private static func makeStorm(_ hosts: UInt8, _ shared: Shared, _ seed: UInt64)
    -> SimulatedNetwork
  {
    var network = SimulatedNetwork(seed: seed)
    for host in 1...hosts {
      network.addNode(host, name: shared == .everything ? "host" : nil)
      network.publish(Int(host) - 1, port: shared == .everything ? 7777 : 7000 + UInt16(host))
    }
    return network
  }

  /// The last names of the nodes' services and hosts, or nil if a service has no name yet or two
  /// have the same.
  private static func names(_ network: SimulatedNetwork) -> [String]? {
    let services = network.nodes.indices.compactMap { network.names($0).last }
    let hosts = network.nodes.map { "\($0.machine.hostName)" }
    let count = network.nodes.count
    return Set(services).count == count && Set(hosts).count == count ? services + hosts : nil
  }

  private static func check(
    _ hosts: UInt8, _ shared: Shared, _ seed: UInt64, within limit: Duration
  ) throws {
    var network = makeStorm(hosts, shared, seed)
    network.run(for: limit)
    guard let names = names(network) else {
      let named = network.nodes.indices.count { !network.names($0).isEmpty }
      throw Failure(description: "\(named) of \(hosts) hosts were named in \(limit)")
    }
    network.run(for: .seconds(20))
    guard Self.names(network) == names else {
      throw Failure(description: "\(hosts) hosts did not keep their names")
    }
  }

  /// The number of seeds, or nil for as many as a test run has time for.
  private static let seeds = environment["CAROM_SEEDS"].flatMap { Int($0) }
  private static let replay = environment["CAROM_SEED"]

  @Test(arguments: Shared.allCases)
  func `R39 R49: ten hosts with the same name are all named within eight seconds`(shared: Shared)
    throws
  {
    try Seeds(Self.seeds ?? 50, replay: Self.replay).check { seed in
      try Self.check(10, shared, seed, within: .seconds(8))
    }
  }

  @Test(arguments: Shared.allCases)
  func `R39 R49: fifty hosts with the same name are all named within thirty seconds`(
    shared: Shared
  ) throws {
    try Seeds(Self.seeds ?? 3, replay: Self.replay).check { seed in
      try Self.check(50, shared, seed, within: .seconds(30))
    }
  }

  @Test func `R37 R39: the losers of a tiebreak do not probe again in step`() throws {
    var network = Self.makeStorm(25, .service, 1)
    network.run(for: .milliseconds(1000))
    // Each loser's first probe after a pause of at least half a second.
    var last: [Int: Instant] = [:]
    var restarts: [Instant] = []
    network.run(for: .seconds(1))
    for packet in network.log where !packet.message.authorities.isEmpty {
      let before = last.updateValue(packet.at, forKey: packet.sender)
      if let before, packet.at - before >= .milliseconds(500) { restarts.append(packet.at) }
    }
    let first = try #require(restarts.min())
    let latest = try #require(restarts.max())
    #expect(restarts.count >= 15)
    #expect(latest - first >= .milliseconds(150))
  }

  @Test func `R49: a host whose every name is denied fails with an error of its own`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    let id = network.publish(0)
    var seen = 0
    while network.run(until: .zero + .seconds(120), { $0.probes(0).count > seen }) {
      let names = network.probes(0)[seen].message.questions.map(\.key.name)
      seen += 1
      let taken = names.filter { $0.labels.count == 2 }
      guard !taken.isEmpty else { continue }
      network.inject(
        SimulatedNetwork.makeResponse(
          taken.map { Record($0, .address(.v4(0x0A00_0042)), timeToLive: 120) }), from: 66)
    }
    let events = network.nodes[0].events.map(\.event)
    #expect(events.last == .responder(.failed(id, .noFreeHostName)))
  }

  @Test func `R49: conflicts of a withdrawn service do not fail a later one`() {
    var network = SimulatedNetwork()
    network.addNode(1, name: "taken")
    let first = network.publish(0)
    _ = network.run(until: .zero + .seconds(1)) { !$0.probes(0).isEmpty }
    let rival = { (name: Name) in
      SimulatedNetwork.makeResponse([Record(name, .address(.v4(0x0A00_0042)), timeToLive: 120)])
    }
    network.inject(rival("taken.local"), from: 66)
    network.run(for: .milliseconds(100))
    network.with(0) { $0.withdraw(first, at: $1) }
    network.run(for: .seconds(120))
    network.log = []
    network.publish(0, "Leo's table")
    _ = network.run(until: network.now + .seconds(1)) { !$0.probes(0).isEmpty }
    network.inject(rival(network.nodes[0].machine.hostName), from: 66)
    network.run(for: .seconds(5))
    #expect(network.names(0) == ["Leo's table"])
  }
}
