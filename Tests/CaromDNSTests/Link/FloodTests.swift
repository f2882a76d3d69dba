import CaromCore
import CaromDNS
import Testing

/// Real services are found, and reports stay correct, on a link that is flooded with junk.
@Suite struct FloodTests {
  #if DEBUG
    private static let junk = 4600
    /// The number of services that one sender invents. One sender may fill a quarter of the cache.
    private static let fakes = 300
  #else
    private static let junk = 20_000
    private static let fakes = 1200
  #endif

  enum Kind: String, CaseIterable, Sendable {
    case unwanted, ofTheType
  }

  /// Sends `count` junk records in messages of 40.
  private func flood(
    _ network: inout SimulatedNetwork, _ kind: Kind, senders: Int, at count: Int = junk,
    clearing: Bool = true
  ) {
    for start in stride(from: 0, to: count, by: 40) {
      var message = Message(isResponse: true)
      message.answers = (start..<start + 40).map { index in
        switch kind {
        case .unwanted:
          Record(
            Name(junk: index), .address(.v4(UInt32(index))), timeToLive: 86_400, flushesCache: true)
        case .ofTheType: SimulatedNetwork.makePointer("fake \(index)", life: 86_400)
        }
      }
      network.inject(message, from: UInt8(100 + start / 40 % senders))
      network.run(for: .microseconds(1300))
      if clearing { network.log = [] }
    }
  }

  /// The services that the browse's events say are present.
  private func presentServices(_ network: SimulatedNetwork) -> Set<Name> {
    var names: Set<Name> = []
    for event in network.querierEvents(0) {
      switch event {
      case .added(_, let service): #expect(names.insert(service.name).inserted)
      case .removed(_, let service): #expect(names.remove(service.name) != nil)
      default: break
      }
    }
    return names
  }

  @Test(arguments: Kind.allCases, [1, 100])
  func `a service published after a flood of junk is found within 1.3 s`(
    kind: Kind, senders: Int
  ) {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    network.browse(0)
    // One sender can fill only its share of the cache.
    flood(&network, kind, senders: senders, at: senders > 1 ? Self.junk : Self.junk / 3)
    network.publish(1)
    let end = network.now.advanced(by: .milliseconds(1300))
    let found = network.run(until: end) { network in
      guard case .querier(.added(_, let service)) = network.nodes[0].events.last?.event else {
        return false
      }
      return service.name == SimulatedNetwork.makeInstance()
    }
    #expect(found)
    _ = network.resolve(0)
    network.run(for: .milliseconds(300))
    #expect(network.resolutions(0).compactMap { $0?.endpoints.count } == [1])
    // The reported services are exactly the cached ones.
    let known = network.nodes[0].machine.cachedRecords(
      SimulatedNetwork.type.name(), .ptr, at: network.now)
    #expect(known.count == presentServices(network).count)
    #expect(known.count <= RecordCache.pointerCapacity)
  }

  @Test func `a known service stays while one sender floods its type`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.addNode(2)
    network.publish(1)
    network.browse(0)
    network.run(for: .seconds(5))
    flood(&network, .ofTheType, senders: 3, at: Self.junk / 2)
    #expect(!network.changes(0).contains("-Maya's table"))
    #expect(network.changes(0).contains("+Maya's table"))
  }

  @Test func `a flood of services does not cause a flood of questions`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.browse(0)
    let start = network.now
    flood(&network, .ofTheType, senders: 100, at: Self.junk / 2, clearing: false)
    network.run(for: .seconds(2))
    let seconds = Int((network.now - start).components.seconds)
    // One query's known-answer packets may exceed the rate limit.
    #expect(network.log.count <= 128 + 40 * (seconds + 1) + 70)
    #expect(network.log.contains { $0.message.questions.count > 30 })
  }

  @Test func `the cache limits apply to NSEC records too`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    for start in stride(from: 0, to: 3000, by: 30) {
      network.respond(
        (start..<start + 30).map { SimulatedNetwork.makeDenial(Name(junk: $0), has: [.a]) })
    }
    var count = 0
    for index in 0..<3000 {
      count +=
        network.nodes[0].machine.cachedRecords(Name(junk: index), .nsec, at: network.now).count
    }
    #expect(count > 500 && count <= RecordCache.capacity / RecordCache.sourceShare)
  }

  @Test func `with very many active questions, new services' TXT records are not asked for`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.with(0) { machine, now in
      for index in 0..<Querier.monitorLimit {
        _ = machine.monitorText(of: Name(junk: index), at: now)
        _ = machine.resolve(Name(junk: index), deadline: now.advanced(by: .seconds(90)), at: now)
      }
    }
    network.browse(0)
    network.respond([SimulatedNetwork.makePointer()])
    #expect(network.changes(0) == ["+Maya's table"])
    network.run(for: .seconds(10))
    let asked = network.questions(0, .txt).map(\.question.key.name)
    #expect(!asked.isEmpty && !asked.contains(SimulatedNetwork.makeInstance()))
    #expect(network.log.allSatisfy { $0.transmit.payload.count <= 1452 })
  }

  @Test func `invented services disappear within a day unless they are repeated`() {
    var network = SimulatedNetwork()
    network.addNode(1)
    network.browse(0)
    flood(&network, .ofTheType, senders: 1, at: Self.fakes)
    #expect(presentServices(network).count > Self.fakes * 2 / 5)
    network.run(for: .seconds(86_401))
    #expect(presentServices(network).isEmpty)
    #expect(
      network.nodes[0].machine.cachedRecords(SimulatedNetwork.type.name(), .ptr, at: network.now)
        .isEmpty)
  }

  @Test func `resolving a thousand known instances sends no packets`() {
    #if DEBUG
      let count = 200
    #else
      let count = 1000
    #endif
    var network = SimulatedNetwork()
    network.addNode(1)
    network.browse(0)
    for index in 0..<count {
      let label = "table \(index)"
      network.respond(
        [SimulatedNetwork.makePointer(label)],
        additionals: [
          SimulatedNetwork.makeServer(label, port: UInt16(1000 + index)),
          SimulatedNetwork.makeText(["n": "1"], of: label),
          SimulatedNetwork.makeAddress(),
        ], from: UInt8(1 + index % 250))
    }
    #expect(network.changes(0).count == count)
    network.log = []
    for index in 0..<count { _ = network.resolve(0, "table \(index)") }
    #expect(network.resolutions(0).count == count)
    #expect(network.resolutions(0).allSatisfy { $0 != nil })
    #expect(network.log.isEmpty)
  }
}
