import CaromCore
import CaromDNS
import Testing

/// The tests of Apple's Bonjour Conformance Test, under their original names, for a device that is
/// claiming its names. The tests of the sockets check the IP TTL.
@Suite struct ConformanceSuite {
  /// How the device joins the link.
  enum Start: CaseIterable {
    /// It is switched on.
    case fresh
    /// Its cable was disconnected for five seconds.
    case replugged
  }

  static let instance = SimulatedNetwork.makeInstance()
  static let host: Name = "host1.local"

  /// A network with a device that starts claiming its names now.
  static func makeStarting(_ start: Start, seed: UInt64 = 1) -> SimulatedNetwork {
    var network = SimulatedNetwork(seed: seed)
    network.addNode(1)
    network.publish(0)
    guard start == .replugged else { return network }
    network.run(for: .seconds(5))
    let attachments = network.nodes[0].attachments
    network.setLinks(0, [])
    network.run(for: .seconds(5))
    network.nodes[0].events = []
    network.log = []
    network.setLinks(0, attachments)
    return network
  }

  /// A network with a device that has sent this many probes.
  static func makeProbing(_ start: Start, probes: Int = 1, seed: UInt64 = 1) -> SimulatedNetwork {
    var network = makeStarting(start, seed: seed)
    _ = network.run(until: network.now + .seconds(2)) { $0.probes(0).count == probes }
    return network
  }

  /// A conflicting record of another device, for the host's or the service's name.
  static func makeRival(of name: Name, port: UInt16 = 9) -> Record {
    name == host
      ? Record(host, .address(.v4(0x0A00_0042)), timeToLive: 120, flushesCache: true)
      : Record(
        name, .service(priority: 0, weight: 0, port: port, target: "rival.local"),
        timeToLive: 120, flushesCache: true)
  }

  /// A simultaneous probe of another device, which proposes `record` and our own TXT record.
  private static func makeProbe(_ record: Record) -> Message {
    var probe = SimulatedNetwork.makeQuery([Question(record.name, .any)])
    probe.authorities = [record]
    guard record.name == instance else { return probe }
    let text = SimulatedNetwork.makeService().text.encoded
    probe.authorities.append(Record(instance, .text(text), timeToLive: 4500))
    return probe
  }

  /// The times of the probes for a name.
  static func probeTimes(of name: Name, in network: SimulatedNetwork) -> [Instant] {
    network.probes(0).filter { $0.message.questions.map(\.key.name).contains(name) }.map(\.at)
  }

  @Test(arguments: Start.allCases) func `INITIAL PROBING`(start: Start) throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var network = Self.makeStarting(start, seed: seed)
      let begin = network.now
      network.run(for: .seconds(1))
      let probes = network.probes(0)
      try #require(probes.count == 3)
      #expect(probes[0].at - begin <= .milliseconds(250))
      let gaps = zip(probes, probes.dropFirst()).map { $1.at - $0.at }
      #expect(gaps == [.milliseconds(250), .milliseconds(250)])
      for probe in probes {
        let questions = probe.message.questions
        #expect(questions.allSatisfy { $0.key.type == .any && $0.questionClass == 1 })
        #expect(Set(probe.message.authorities.map(\.name)) == Set(questions.map(\.key.name)))
        #expect(probe.transmit.destination == MulticastGroup.v4)
      }
      #expect(network.packets(0, responses: true).allSatisfy { $0.at - probes[2].at == gaps[0] })
    }
  }

  @Test(arguments: Start.allCases) func `SIMULTANEOUS PROBE CONFLICT`(start: Start) throws {
    for name in [Self.host, Self.instance] {
      var network = Self.makeProbing(start)
      let lost = network.now
      network.inject(Self.makeProbe(Self.makeRival(of: name, port: 9999)), from: 66)
      network.run(for: .seconds(3))
      let times = Self.probeTimes(of: name, in: network)
      // The loser waits a second, finds the name free, and claims it.
      #expect(times.count == 1 + 3)
      #expect(times[1] - lost >= .seconds(1) && times[1] - lost <= .milliseconds(1251))
      #expect(network.sentRecords(0).contains { $0.name == name })
    }
  }

  @Test(arguments: Start.allCases) func `WINNING SIMULTANEOUS PROBES`(start: Start) throws {
    for name in [Self.host, Self.instance] {
      var network = Self.makeProbing(start)
      let first = network.now
      var rival = Self.makeRival(of: name, port: 1)
      if name == Self.host { rival.data = .address(.v4(0x0100_0000)) }
      network.inject(Self.makeProbe(rival), from: 66)
      network.run(for: .milliseconds(749))
      let gaps = Self.probeTimes(of: name, in: network).map { $0 - first }
      #expect(gaps == [.zero, .milliseconds(250), .milliseconds(500)])
      network.run(for: .seconds(2))
      #expect(network.sentRecords(0).contains { $0.name == name })
    }
  }

  @Test(arguments: Start.allCases) func `RATE LIMITING`(start: Start) {
    for name in [Self.host, Self.instance] {
      var network = Self.makeStarting(start)
      let moments = Self.denyAll(in: &network, under: name.parent, for: .seconds(40))
      let gaps = zip(moments, moments.dropFirst()).map { $1 - $0 }
      #expect(moments.count >= 18)
      #expect(gaps.dropFirst(14).allSatisfy { $0 >= .seconds(5) })
    }
  }

  /// Denies every name under `parent` that is probed for, and returns the times of these probes.
  private static func denyAll(
    in network: inout SimulatedNetwork, under parent: Name, for duration: Duration
  ) -> [Instant] {
    var seen = 0
    var moments: [Instant] = []
    let end = network.now + duration
    while network.run(until: end, { $0.probes(0).count > seen }) {
      let names = network.probes(0)[seen].message.questions.map(\.key.name)
      seen += 1
      let denied = names.filter { $0.parent == parent }
      guard !denied.isEmpty else { continue }
      moments.append(network.now)
      network.inject(
        SimulatedNetwork.makeResponse(denied.map { Record($0, .text([1, 65]), timeToLive: 120) }),
        from: 66)
    }
    return moments
  }

  @Test(arguments: Start.allCases) func `PROBE DENIALS`(start: Start) throws {
    for denial in 1...3 {
      var network = Self.makeProbing(start, probes: denial)
      network.inject(
        SimulatedNetwork.makeResponse([
          Self.makeRival(of: Self.host), Self.makeRival(of: Self.instance),
        ]),
        from: 66)
      network.run(for: .seconds(3))
      #expect(network.names(0) == ["Maya's table (2)"])
      #expect(network.nodes[0].machine.hostName == "host1-2.local")
      let names = network.sentRecords(0).filter { $0.timeToLive > 0 }.map(\.name)
      #expect(!names.contains(Self.host) && !names.contains(Self.instance))
      #expect(Self.probeTimes(of: "host1-2.local", in: network).count == 3)
    }
  }

  @Test(arguments: Start.allCases) func `SRV PROBING AND ANNOUNCEMENTS`(start: Start) throws {
    var network = Self.makeStarting(start)
    network.run(for: .seconds(5))
    for probe in network.probes(0) {
      #expect(probe.message.questions.map(\.key.name) == [Self.host, Self.instance])
      #expect(probe.message.authorities.map(\.type) == [.a, .srv, .txt])
    }
    let announcements = network.packets(0, responses: true)
    #expect(announcements.count == 2)
    #expect(announcements[1].at - announcements[0].at >= .seconds(1))
    for packet in announcements {
      #expect(Set(packet.message.answers.map(\.type)) == [.ptr, .srv, .txt, .a])
    }
  }

  @Test(arguments: Start.allCases) func `SUBSEQUENT CONFLICT A AND SRV`(start: Start) throws {
    for name in [Self.host, Self.instance] {
      var network = Self.makeStarting(start)
      network.run(for: .seconds(5))
      network.log = []
      // After one conflict the name is probed again and kept.
      network.inject(SimulatedNetwork.makeResponse([Self.makeRival(of: name)]), from: 66)
      network.run(for: .seconds(5))
      #expect(Self.probeTimes(of: name, in: network).count == 3)
      #expect(network.packets(0, responses: true).count == 2)
      #expect(network.sentRecords(0).contains { $0.name == name })
      // If another device defends the name, a new one is claimed.
      network.log = []
      network.inject(SimulatedNetwork.makeResponse([Self.makeRival(of: name)]), from: 66)
      _ = network.run(until: network.now + .seconds(1)) { !$0.probes(0).isEmpty }
      network.inject(SimulatedNetwork.makeResponse([Self.makeRival(of: name)]), from: 66)
      network.run(for: .seconds(5))
      let last = network.packets(0, responses: true).suffix(1).flatMap(\.message.answers).map(
        \.name)
      let new =
        name == Self.host ? "host1-2.local" : SimulatedNetwork.makeInstance("Maya's table (2)")
      #expect(last.contains(new) && !last.contains(name))
    }
  }
}
