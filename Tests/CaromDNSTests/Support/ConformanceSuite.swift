import CaromCore
import CaromDNS
import Testing

/// The tests of Apple's Bonjour Conformance Test by its names: what it asks of a device while
/// that claims its names. The IP TTL is the sockets' matter and checked with them.
@Suite struct ConformanceSuite {
  /// How the device comes to the link.
  enum Start: CaseIterable {
    /// It is switched on.
    case fresh
    /// Its cable was out for some seconds.
    case replugged
  }

  static let instance = Hub.makeInstance()
  static let host: Name = "host1.local"

  /// A device that begins to claim its names now.
  static func makeStarting(_ start: Start, seed: UInt64 = 1) -> Hub {
    var hub = Hub(seed: seed)
    hub.addNode(1)
    hub.publish(0)
    guard start == .replugged else { return hub }
    hub.run(for: .seconds(5))
    let attachments = hub.nodes[0].attachments
    hub.setLinks(0, [])
    hub.run(for: .seconds(5))
    hub.nodes[0].events = []
    hub.log = []
    hub.setLinks(0, attachments)
    return hub
  }

  /// A device that has sent that many probes.
  static func makeProbing(_ start: Start, probes: Int = 1, seed: UInt64 = 1) -> Hub {
    var hub = makeStarting(start, seed: seed)
    _ = hub.run(until: hub.now + .seconds(2)) { $0.probes(0).count == probes }
    return hub
  }

  /// Another device's claim to the address or the service.
  static func makeRival(of name: Name, port: UInt16 = 9) -> Record {
    name == host
      ? Record(host, .address(.v4(0x0A00_0042)), timeToLive: 120, flushesCache: true)
      : Record(
        name, .service(priority: 0, weight: 0, port: port, target: "rival.local"),
        timeToLive: 120, flushesCache: true)
  }

  /// Another device that asks for the same name at the same time; its text is ours.
  private static func makeProbe(_ record: Record) -> Message {
    var probe = Hub.makeQuery([Question(record.name, .any)])
    probe.authorities = [record]
    guard record.name == instance else { return probe }
    let text = Hub.makeService().text.encoded
    probe.authorities.append(Record(instance, .text(text), timeToLive: 4500))
    return probe
  }

  /// When the name was asked for, in the order of the probes.
  static func probeTimes(of name: Name, in hub: Hub) -> [Instant] {
    hub.probes(0).filter { $0.message.questions.map(\.key.name).contains(name) }.map(\.at)
  }

  @Test(arguments: Start.allCases) func `INITIAL PROBING`(start: Start) throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var hub = Self.makeStarting(start, seed: seed)
      let begin = hub.now
      hub.run(for: .seconds(1))
      let probes = hub.probes(0)
      try #require(probes.count == 3)
      #expect(probes[0].at - begin <= .milliseconds(250))
      let gaps = zip(probes, probes.dropFirst()).map { $1.at - $0.at }
      #expect(gaps == [.milliseconds(250), .milliseconds(250)])
      for probe in probes {
        let questions = probe.message.questions
        #expect(questions.allSatisfy { $0.key.type == .any && $0.questionClass == 1 })
        #expect(Set(probe.message.authorities.map(\.name)) == Set(questions.map(\.key.name)))
        #expect(probe.outgoing.destination == MulticastGroup.v4)
      }
      #expect(hub.packets(0, responses: true).allSatisfy { $0.at - probes[2].at == gaps[0] })
    }
  }

  @Test(arguments: Start.allCases) func `SIMULTANEOUS PROBE CONFLICT`(start: Start) throws {
    for name in [Self.host, Self.instance] {
      var hub = Self.makeProbing(start)
      let lost = hub.now
      hub.inject(Self.makeProbe(Self.makeRival(of: name, port: 9999)), from: 66)
      hub.run(for: .seconds(3))
      let times = Self.probeTimes(of: name, in: hub)
      // The loser waits a second, finds the name free, and takes it.
      #expect(times.count == 1 + 3)
      #expect(times[1] - lost >= .seconds(1) && times[1] - lost <= .milliseconds(1001))
      #expect(hub.said(0).contains { $0.name == name })
    }
  }

  @Test(arguments: Start.allCases) func `WINNING SIMULTANEOUS PROBES`(start: Start) throws {
    for name in [Self.host, Self.instance] {
      var hub = Self.makeProbing(start)
      let first = hub.now
      var rival = Self.makeRival(of: name, port: 1)
      if name == Self.host { rival.data = .address(.v4(0x0100_0000)) }
      hub.inject(Self.makeProbe(rival), from: 66)
      hub.run(for: .milliseconds(749))
      let gaps = Self.probeTimes(of: name, in: hub).map { $0 - first }
      #expect(gaps == [.zero, .milliseconds(250), .milliseconds(500)])
      hub.run(for: .seconds(2))
      #expect(hub.said(0).contains { $0.name == name })
    }
  }

  @Test(arguments: Start.allCases) func `RATE LIMITING`(start: Start) {
    for name in [Self.host, Self.instance] {
      var hub = Self.makeStarting(start)
      let moments = Self.denyAll(in: &hub, under: name.parent, for: .seconds(40))
      let gaps = zip(moments, moments.dropFirst()).map { $1 - $0 }
      #expect(moments.count >= 18)
      #expect(gaps.dropFirst(14).allSatisfy { $0 >= .seconds(5) })
    }
  }

  /// Denies every name under `parent` that is asked for: when that was.
  private static func denyAll(
    in hub: inout Hub, under parent: Name, for duration: Duration
  ) -> [Instant] {
    var seen = 0
    var moments: [Instant] = []
    let end = hub.now + duration
    while hub.run(until: end, { $0.probes(0).count > seen }) {
      let names = hub.probes(0)[seen].message.questions.map(\.key.name)
      seen += 1
      let denied = names.filter { $0.parent == parent }
      guard !denied.isEmpty else { continue }
      moments.append(hub.now)
      hub.inject(
        Hub.makeResponse(denied.map { Record($0, .text([1, 65]), timeToLive: 120) }), from: 66)
    }
    return moments
  }

  @Test(arguments: Start.allCases) func `PROBE DENIALS`(start: Start) throws {
    for denial in 1...3 {
      var hub = Self.makeProbing(start, probes: denial)
      hub.inject(
        Hub.makeResponse([Self.makeRival(of: Self.host), Self.makeRival(of: Self.instance)]),
        from: 66)
      hub.run(for: .seconds(3))
      #expect(hub.names(0) == ["Maya's table (2)"])
      #expect(hub.nodes[0].machine.hostName == "host1-2.local")
      let names = hub.said(0).filter { $0.timeToLive > 0 }.map(\.name)
      #expect(!names.contains(Self.host) && !names.contains(Self.instance))
      #expect(Self.probeTimes(of: "host1-2.local", in: hub).count == 3)
    }
  }

  @Test(arguments: Start.allCases) func `SRV PROBING AND ANNOUNCEMENTS`(start: Start) throws {
    var hub = Self.makeStarting(start)
    hub.run(for: .seconds(5))
    for probe in hub.probes(0) {
      #expect(probe.message.questions.map(\.key.name) == [Self.host, Self.instance])
      #expect(probe.message.authorities.map(\.type) == [.a, .srv, .txt])
    }
    let told = hub.packets(0, responses: true)
    #expect(told.count == 2)
    #expect(told[1].at - told[0].at >= .seconds(1))
    for packet in told {
      #expect(Set(packet.message.answers.map(\.type)) == [.ptr, .srv, .txt, .a])
    }
  }

  @Test(arguments: Start.allCases) func `SUBSEQUENT CONFLICT A AND SRV`(start: Start) throws {
    for name in [Self.host, Self.instance] {
      var hub = Self.makeStarting(start)
      hub.run(for: .seconds(5))
      hub.log = []
      // A conflict once: the name is asked for again, and kept.
      hub.inject(Hub.makeResponse([Self.makeRival(of: name)]), from: 66)
      hub.run(for: .seconds(5))
      #expect(Self.probeTimes(of: name, in: hub).count == 3)
      #expect(hub.packets(0, responses: true).count == 2)
      #expect(hub.said(0).contains { $0.name == name })
      // A rival who defends it: another name.
      hub.log = []
      hub.inject(Hub.makeResponse([Self.makeRival(of: name)]), from: 66)
      _ = hub.run(until: hub.now + .seconds(1)) { !$0.probes(0).isEmpty }
      hub.inject(Hub.makeResponse([Self.makeRival(of: name)]), from: 66)
      hub.run(for: .seconds(5))
      let last = hub.packets(0, responses: true).suffix(1).flatMap(\.message.answers).map(\.name)
      let new = name == Self.host ? "host1-2.local" : Hub.makeInstance("Maya's table (2)")
      #expect(last.contains(new) && !last.contains(name))
    }
  }
}
