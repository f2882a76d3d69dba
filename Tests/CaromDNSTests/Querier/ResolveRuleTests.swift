import CaromCore
import CaromDNS
import Testing

@Suite struct ResolveRuleTests {
  private func makeHub() -> Hub {
    var hub = Hub()
    hub.addNode(1)
    return hub
  }

  private func failures(_ hub: Hub) -> [ResolveFailure] {
    hub.told(0).compactMap { event in
      if case .unresolved(_, let failure) = event { failure } else { nil }
    }
  }

  private let text = Hub.makeText(["seats": "1/2"])

  @Test func `R21: a host without IPv6 addresses says so, and is not asked again`() {
    var hub = makeHub()
    _ = hub.with(0) { $0.query("host9.local", .aaaa, at: $1) }
    hub.run(for: .milliseconds(200))
    hub.say([Hub.makeDenial("host9.local", has: [.a])])
    hub.log = []
    hub.run(for: .seconds(90))
    #expect(hub.log.isEmpty)
    #expect(hub.told(0).map(\.isDenial) == [true])
    hub.run(for: .seconds(30))
    // It grows old like any record.
    #expect(hub.questions(0, .aaaa).count == 4)
    hub.run(for: .seconds(30))
    #expect(hub.questions(0, .aaaa).count >= 5)
  }

  @Test func `R21: a host without any address ends resolving at once`() {
    var hub = makeHub()
    _ = hub.resolve(0)
    hub.say([Hub.makeServer(), text])
    hub.run(for: .milliseconds(10))
    #expect(hub.told(0).isEmpty)
    hub.say([Hub.makeDenial("host9.local", has: [.txt])])
    #expect(failures(hub) == [.noAddress(host: "host9.local")])
  }

  @Test func `R21: a service whose owner has no SRV is not offered, one without TXT is empty`()
    throws
  {
    var hub = makeHub()
    _ = hub.resolve(0)
    hub.say([Hub.makeDenial(Hub.makeInstance(), has: [.txt])])
    #expect(failures(hub) == [.notOffered])
    _ = hub.resolve(0, "other")
    hub.say([
      Hub.makeServer("other"), Hub.makeAddress(),
      Hub.makeDenial(Hub.makeInstance("other"), has: [.srv]),
    ])
    let resolution = try #require(hub.resolutions(0).last ?? nil)
    #expect(resolution.text.isEmpty)
  }

  @Test func `R21: a strange denial is skipped, not the message`() {
    let strange: [Record] = [
      Record("host9.local", .types(next: "host10.local", [.a]), timeToLive: 120),
      Record("host9.local", .types(next: "host9.local", [.a, .nsec]), timeToLive: 120),
    ]
    for denial in strange {
      var hub = makeHub()
      _ = hub.with(0) { $0.query("host9.local", .aaaa, at: $1) }
      hub.browse(0)
      hub.say([denial, Hub.makePointer()])
      #expect(hub.changes(0) == ["+Maya's table"])
      #expect(hub.told(0).map(\.isDenial) == [false])
      hub.run(for: .seconds(10))
      #expect(hub.questions(0, .aaaa).count == 4)
    }
  }

  @Test func `R21: nobody can deny the services of a type`() {
    var hub = makeHub()
    hub.browse(0)
    hub.say([Hub.makeDenial(Hub.type.name(), has: [.a])])
    hub.run(for: .seconds(10))
    #expect(hub.questions(0, .ptr).count == 4)
  }

  @Test func `R21: what is there is there, whatever is denied`() {
    var hub = makeHub()
    _ = hub.resolve(0)
    hub.say([
      Hub.makeServer(), text, Hub.makeDenial("host9.local", has: [.aaaa]), Hub.makeAddress(),
    ])
    #expect(hub.resolutions(0).compactMap { $0?.endpoints.count } == [1])
  }

  @Test func `R71: the lowest priority comes first, equals by chance and weight`() {
    var firsts = [0, 0]
    for seed in 1...200 as ClosedRange<UInt64> {
      var hub = Hub(seed: seed)
      hub.addNode(1)
      _ = hub.resolve(0)
      hub.say([
        text, Hub.makeServer(priority: 9, weight: 9999, port: 3),
        Hub.makeServer(priority: 1, weight: 10, port: 1),
        Hub.makeServer(priority: 1, weight: 30, port: 2), Hub.makeAddress(),
      ])
      let ports = hub.resolutions(0).first??.endpoints.map(\.port) ?? []
      #expect(ports.count == 3 && ports.last == 3)
      firsts[ports.first == 1 ? 0 : 1] += 1
    }
    #expect(firsts[0] >= 30 && firsts[0] <= 75)
  }

  @Test func `R71: equals without weight share as well`() {
    var firsts: Set<UInt16> = []
    for seed in 1...40 as ClosedRange<UInt64> {
      var hub = Hub(seed: seed)
      hub.addNode(1)
      _ = hub.resolve(0)
      hub.say([text, Hub.makeAddress()] + (1...3).map { Hub.makeServer(port: $0) })
      if let port = hub.resolutions(0).first??.endpoints.first?.port { firsts.insert(port) }
    }
    #expect(firsts == [1, 2, 3])
  }

  @Test func `R71: a target "." is a service that is not offered`() {
    var hub = makeHub()
    _ = hub.resolve(0)
    hub.say([text, Hub.makeServer(host: .root)])
    #expect(failures(hub) == [.notOffered])
    #expect(hub.nodes[0].machine.cachedRecords(".", .a, at: hub.now).isEmpty)
  }

  @Test func `R80: answers without additionals cost further questions only`() throws {
    var hub = makeHub()
    hub.browse(0)
    let records: [RecordType: Record] = [
      .ptr: Hub.makePointer(), .srv: Hub.makeServer(), .txt: text, .a: Hub.makeAddress(),
    ]
    _ = hub.resolve(0)
    var seen = 0
    let end = hub.now.advanced(by: .seconds(2))
    while hub.run(until: end, { $0.log.count > seen }) {
      let questions = hub.log[seen].message.questions
      seen += 1
      for question in questions {
        if let record = records[question.key.type], record.name == question.key.name {
          hub.say([record])
        }
      }
    }
    #expect(hub.resolutions(0).first??.endpoints == [Endpoint(.v4(0x0A00_0009), port: 7777)])
    #expect(hub.changes(0) == ["+Maya's table", "~Maya's table"])
  }

  @Test func `a failure tells how far it came`() {
    var hub = makeHub()
    _ = hub.resolve(0, "nobody")
    _ = hub.resolve(0, "lost")
    hub.say([Hub.makeServer("lost")])
    hub.run(for: .seconds(3))
    #expect(failures(hub) == [.noAnswer, .noAddress(host: "host9.local")])
    hub.log = []
    hub.run(for: .seconds(100))
    #expect(hub.log.isEmpty)
  }

  @Test func `R72: a service without TXT is resolved after a while, with no strings`() throws {
    var hub = makeHub()
    _ = hub.resolve(0)
    hub.say([Hub.makeServer(), Hub.makeAddress()])
    #expect(hub.told(0).isEmpty)
    hub.run(for: .milliseconds(1500))
    #expect(try #require(hub.resolutions(0).first ?? nil).text.isEmpty)
  }

  @Test func `no more than 4096 services are resolved at a time, each at eight hosts at most`() {
    var hub = makeHub()
    hub.with(0) { machine, now in
      for index in 0...Querier.resolverLimit {
        _ = machine.resolve(
          Name(junk: index), deadline: now.advanced(by: .milliseconds(10)), at: now)
      }
    }
    #expect(failures(hub) == [.tooMany])
    hub.run(for: .milliseconds(11))
    #expect(failures(hub).count == Querier.resolverLimit + 1)
    _ = hub.resolve(0, "many")
    hub.say(
      (0..<20).map { Hub.makeServer("many", port: $0, host: Name(junk: Int($0)), flush: false) })
    hub.run(for: .milliseconds(200))
    #expect(Set(hub.questions(0, .a).map(\.question.key.name)).count == 8)
  }

  @Test func `a new resolving asks at once what others have asked in vain for long`() {
    var hub = makeHub()
    _ = hub.with(0) { $0.query(Hub.makeInstance(), .srv, at: $1) }
    hub.run(for: .seconds(1500))
    hub.log = []
    _ = hub.resolve(0)
    hub.run(for: .milliseconds(200))
    #expect(hub.questions(0, .srv).count == 1)
  }
}

extension Querier.Event {
  fileprivate var isDenial: Bool { if case .recordDenied = self { true } else { false } }
}
