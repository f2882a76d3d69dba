import CaromCore
import CaromTesting
import Testing

/// Outages, partitions and rebindings.
@Suite struct InterruptionTests {
  @Test func `periodic outages drop all datagrams`() {
    let dark = LinkConditions(oneWay: .milliseconds(10)).with {
      $0.outage = .every(.seconds(1), lasting: .milliseconds(200), from: .zero + .seconds(2))
    }
    let flow = Flow(dark, count: 399, every: .milliseconds(10))
    #expect(flow.counters.dropped[.outage] == 40)
    let sinceFirst = flow.arrivals.map { ($0.time - .zero).inMilliseconds }
    #expect(sinceFirst.allSatisfy { $0 < 2_000 || Int($0) % 1_000 >= 200 })
  }

  @Test func `outages can have explicit times`() {
    let times = [
      Instant.zero + .milliseconds(100)..<Instant.zero + .milliseconds(150),
      Instant.zero + .milliseconds(300)..<Instant.zero + .milliseconds(400),
    ]
    let flow = Flow(
      LinkConditions(oneWay: .zero).with { $0.outage = .during(times) }, count: 50,
      every: .milliseconds(10))
    #expect(flow.counters.dropped[.outage] == 15)
  }

  @Test func `a partition separates machines until it is healed`() {
    var network = VirtualNetwork(seed: 1, conditions: .steady)
    let hosts = (0..<4).map { _ in network.addHost() }
    let sockets = hosts.map { network.bind($0, port: 9) }
    network.partition([hosts[0], hosts[1]], [hosts[2]])
    func reach(_ from: Int) -> [Int] {
      for to in hosts { network.send([1], from: sockets[from], to: Endpoint(to.v4, port: 9)) }
      return events(of: &network).map(\.host.number).sorted()
    }
    #expect(reach(0) == [0, 1, 3])
    #expect(reach(2) == [2, 3])
    #expect(reach(3) == [0, 1, 2, 3])
    #expect(network.counters.dropped[.cut] == 3)
    network.heal()
    #expect(reach(0) == [0, 1, 2, 3])
  }

  @Test func `streams wait for the end of a partition`() {
    var world = makeStream()
    world.network.partition([world.a], [world.b])
    world.network.write([1], to: world.client)
    #expect(world.network.nextEvent() == nil)
    world.network.heal()
    #expect(world.network.nextEvent() == .bytes([1], world.listener))
  }

  @Test func `rebinding a port changes the source and invalidates the old port`() {
    var (network, a, b) = makePair()
    let (from, to) = (network.bind(a, port: 5), network.bind(b, port: 9))
    let original = exchange(&network, from, to, b)
    #expect(original == Endpoint(a.v4, port: 5))
    network.rebind(a)
    network.send([2], from: to, to: original)
    #expect(network.nextEvent() == nil)
    #expect(network.counters(from: b, to: a).dropped[.mapping] == 1)
    let changed = exchange(&network, from, to, b)
    #expect(changed.address == a.v4 && changed.port != 5)
    network.send([3], from: to, to: changed)
    guard case .datagram(let answer, from)? = network.nextEvent() else {
      Issue.record("no answer came")
      return
    }
    #expect(answer.destination == Endpoint(a.v4, port: 5))
    #expect(exchange(&network, from, to, b) == changed)
  }

  @Test(arguments: [false, true]) func `rebinding an address changes the source`(isV6: Bool) {
    var (network, a, b) = makePair()
    let (from, to) = (network.bind(a, port: 5), network.bind(b, port: 9))
    network.rebind(a, changing: .address)
    let address = isV6 ? b.v6 : b.v4
    let first = exchange(&network, from, to, b, at: address)
    #expect(first.port == 5 && first.address != a.v4 && first.address != a.v6)
    network.send([2], from: to, to: first)
    #expect(network.nextEvent()?.host == a.id)
    network.rebind(a, changing: .address)
    network.send([3], from: to, to: first)
    #expect(network.nextEvent() == nil)
    #expect(exchange(&network, from, to, b, at: address) != first)
  }

  @Test func `datagrams in flight during a rebinding are lost`() {
    var (network, a, b) = makePair()
    let (from, to) = (network.bind(a, port: 5), network.bind(b, port: 9))
    network.send([1], from: to, to: exchange(&network, from, to, b))
    network.rebind(a)
    #expect(network.nextEvent() == nil)
  }

  @Test func `a NAT rebinds periodically`() {
    let flow = Flow(.rebinding.with { $0.loss = 0 }, count: 400, every: .milliseconds(100))
    var ports: [UInt16] = []
    for arrival in flow.arrivals where ports.last != arrival.source.port {
      ports.append(arrival.source.port)
    }
    #expect(ports.count == 5)  // the first, and new ones after 5, 15, 25 and 35 s
    #expect(Set(ports).count == 5)
    #expect(flow.counters.dropped.total == 0)
  }

  @Test func `a rebinding breaks a stream`() {
    var world = makeStream()
    world.network.rebind(world.a)
    world.network.write([1], to: world.listener)
    #expect(world.network.nextEvent() == nil)
    world.network.write([2], to: world.client)
    #expect(events(of: &world.network) == [.reset(world.client)])
    #expect(!world.network.isWritable(world.client))
    let again = world.network.connect(from: world.a, to: Endpoint(world.b.v4, port: 80))
    #expect(world.network.nextEvent() == .connected(again))
    guard case .accepted(_, let source, _)? = world.network.nextEvent() else {
      Issue.record("not accepted")
      return
    }
    #expect(source.address == world.a.v4)
  }

  /// Sends one datagram and returns the source that the receiver sees.
  private func exchange(
    _ network: inout VirtualNetwork, _ from: VirtualSocket, _ to: VirtualSocket,
    _ b: VirtualHost, at address: IPAddress? = nil
  ) -> Endpoint {
    network.send([1], from: from, to: Endpoint(address ?? b.v4, port: 9))
    guard case .datagram(let datagram, to)? = network.nextEvent() else {
      Issue.record("nothing came")
      return Endpoint(.any4, port: 0)
    }
    return datagram.source
  }
}
