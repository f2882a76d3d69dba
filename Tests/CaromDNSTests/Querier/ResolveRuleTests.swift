import CaromCore
import CaromDNS
import Testing

@Suite struct ResolveRuleTests {
  private func failures(_ network: SimulatedNetwork) -> [ResolveFailure] {
    network.querierEvents(0).compactMap { event in
      if case .unresolved(_, let failure) = event { failure } else { nil }
    }
  }

  private let text = SimulatedNetwork.makeText(["seats": "1/2"])

  @Test func `R21: a denied address type is not queried again until the denial ages`() {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.with(0) { $0.query("host9.local", .aaaa, at: $1) }
    network.run(for: .milliseconds(200))
    network.respond([SimulatedNetwork.makeDenial("host9.local", has: [.a])])
    network.log = []
    network.run(for: .seconds(90))
    #expect(network.log.isEmpty)
    #expect(network.querierEvents(0).map(\.isDenial) == [true])
    network.run(for: .seconds(30))
    // A denial is refreshed like any other record.
    #expect(network.questions(0, .aaaa).count == 4)
    network.run(for: .seconds(30))
    #expect(network.questions(0, .aaaa).count >= 5)
  }

  @Test func `R21: resolving fails at once if the host denies all addresses`() {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.resolve(0)
    network.respond([SimulatedNetwork.makeServer(), text])
    network.run(for: .milliseconds(10))
    #expect(network.querierEvents(0).isEmpty)
    network.respond([SimulatedNetwork.makeDenial("host9.local", has: [.txt])])
    #expect(failures(network) == [.noAddress(host: "host9.local")])
  }

  @Test func `R21: a denied SRV record means not offered, and a denied TXT record means empty`()
    throws
  {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.resolve(0)
    network.respond([SimulatedNetwork.makeDenial(SimulatedNetwork.makeInstance(), has: [.txt])])
    #expect(failures(network) == [.notOffered])
    _ = network.resolve(0, "other")
    network.respond([
      SimulatedNetwork.makeServer("other"), SimulatedNetwork.makeAddress(),
      SimulatedNetwork.makeDenial(SimulatedNetwork.makeInstance("other"), has: [.srv]),
    ])
    let resolution = try #require(network.resolutions(0).last ?? nil)
    #expect(resolution.text.isEmpty)
  }

  @Test func `R21: a malformed denial is skipped without the rest of its message`() {
    let strange: [Record] = [
      Record("host9.local", .types(next: "host10.local", [.a]), timeToLive: 120),
      Record("host9.local", .types(next: "host9.local", [.a, .nsec]), timeToLive: 120),
    ]
    for denial in strange {
      var network = SimulatedNetwork.makeWithOneNode()
      _ = network.with(0) { $0.query("host9.local", .aaaa, at: $1) }
      network.browse(0)
      network.respond([denial, SimulatedNetwork.makePointer()])
      #expect(network.changes(0) == ["+Maya's table"])
      #expect(network.querierEvents(0).map(\.isDenial) == [false])
      network.run(for: .seconds(10))
      #expect(network.questions(0, .aaaa).count == 4)
    }
  }

  @Test func `R21: PTR record sets cannot be denied`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0)
    network.respond([SimulatedNetwork.makeDenial(SimulatedNetwork.type.name(), has: [.a])])
    network.run(for: .seconds(10))
    #expect(network.questions(0, .ptr).count == 4)
  }

  @Test func `R21: an existing record outweighs a denial of its type`() {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.resolve(0)
    network.respond([
      SimulatedNetwork.makeServer(), text, SimulatedNetwork.makeDenial("host9.local", has: [.aaaa]),
      SimulatedNetwork.makeAddress(),
    ])
    #expect(network.resolutions(0).compactMap { $0?.endpoints.count } == [1])
  }

  @Test func `R71: SRV records are ordered by priority and randomly by weight`() {
    var firsts = [0, 0]
    for seed in 1...200 as ClosedRange<UInt64> {
      var network = SimulatedNetwork(seed: seed)
      network.addNode(1)
      _ = network.resolve(0)
      network.respond([
        text, SimulatedNetwork.makeServer(priority: 9, weight: 9999, port: 3),
        SimulatedNetwork.makeServer(priority: 1, weight: 10, port: 1),
        SimulatedNetwork.makeServer(priority: 1, weight: 30, port: 2),
        SimulatedNetwork.makeAddress(),
      ])
      let ports = network.resolutions(0).first??.endpoints.map(\.port) ?? []
      #expect(ports.count == 3 && ports.last == 3)
      firsts[ports.first == 1 ? 0 : 1] += 1
    }
    #expect(firsts[0] >= 30 && firsts[0] <= 75)
  }

  @Test func `R71: SRV records without weight are ordered randomly`() {
    var firsts: Set<UInt16> = []
    for seed in 1...40 as ClosedRange<UInt64> {
      var network = SimulatedNetwork(seed: seed)
      network.addNode(1)
      _ = network.resolve(0)
      network.respond(
        [text, SimulatedNetwork.makeAddress()]
          + (1...3).map { SimulatedNetwork.makeServer(port: $0) })
      if let port = network.resolutions(0).first??.endpoints.first?.port { firsts.insert(port) }
    }
    #expect(firsts == [1, 2, 3])
  }

  @Test func `R71: a service with the target "." is not offered`() {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.resolve(0)
    network.respond([text, SimulatedNetwork.makeServer(host: .root)])
    #expect(failures(network) == [.notOffered])
    #expect(network.nodes[0].machine.cachedRecords(".", .a, at: network.now).isEmpty)
  }

  @Test func `R80: answers without additional records only require further queries`() throws {
    var network = SimulatedNetwork.makeWithOneNode()
    network.browse(0)
    let records: [RecordType: Record] = [
      .ptr: SimulatedNetwork.makePointer(), .srv: SimulatedNetwork.makeServer(), .txt: text,
      .a: SimulatedNetwork.makeAddress(),
    ]
    _ = network.resolve(0)
    var seen = 0
    let end = network.now.advanced(by: .seconds(2))
    while network.run(until: end, { $0.log.count > seen }) {
      let questions = network.log[seen].message.questions
      seen += 1
      for question in questions {
        if let record = records[question.key.type], record.name == question.key.name {
          network.respond([record])
        }
      }
    }
    #expect(network.resolutions(0).first??.endpoints == [Endpoint(.v4(0x0A00_0009), port: 7777)])
    #expect(network.changes(0) == ["+Maya's table", "~Maya's table"])
  }

  @Test func `a resolve failure distinguishes an unknown host from an unknown address`() {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.resolve(0, "nobody")
    _ = network.resolve(0, "lost")
    network.respond([SimulatedNetwork.makeServer("lost")])
    network.run(for: .seconds(3))
    #expect(failures(network) == [.noAnswer, .noAddress(host: "host9.local")])
    network.log = []
    network.run(for: .seconds(100))
    #expect(network.log.isEmpty)
  }

  @Test func `R72: a service without a TXT record is resolved after 1500 ms with an empty one`()
    throws
  {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.resolve(0)
    network.respond([SimulatedNetwork.makeServer(), SimulatedNetwork.makeAddress()])
    #expect(network.querierEvents(0).isEmpty)
    network.run(for: .milliseconds(1500))
    #expect(try #require(network.resolutions(0).first ?? nil).text.isEmpty)
  }

  @Test func `at most 4096 resolves run at a time, each with at most eight hosts`() {
    var network = SimulatedNetwork.makeWithOneNode()
    network.with(0) { machine, now in
      for index in 0...Querier.resolverLimit {
        _ = machine.resolve(
          Name(junk: index), deadline: now.advanced(by: .milliseconds(10)), at: now)
      }
    }
    #expect(failures(network) == [.tooMany])
    network.run(for: .milliseconds(11))
    #expect(failures(network).count == Querier.resolverLimit + 1)
    _ = network.resolve(0, "many")
    network.respond(
      (0..<20).map {
        SimulatedNetwork.makeServer("many", port: $0, host: Name(junk: Int($0)), flush: false)
      })
    network.run(for: .milliseconds(200))
    #expect(Set(network.questions(0, .a).map(\.question.key.name)).count == 8)
  }

  @Test func `a new resolve queries at once although the question is already active`() {
    var network = SimulatedNetwork.makeWithOneNode()
    _ = network.with(0) { $0.query(SimulatedNetwork.makeInstance(), .srv, at: $1) }
    network.run(for: .seconds(1500))
    network.log = []
    _ = network.resolve(0)
    network.run(for: .milliseconds(200))
    #expect(network.questions(0, .srv).count == 1)
  }
}

extension Querier.Event {
  fileprivate var isDenial: Bool { if case .recordDenied = self { true } else { false } }
}
