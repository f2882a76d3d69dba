import CaromCore
import CaromTesting
import Testing

@Suite struct DatagramTests {
  @Test func `a datagram arrives with its endpoints, interface and hop limit`() {
    var (network, a, b) = makePair()
    let from = network.bind(a, port: 1000)
    let to = network.bind(b, port: 2000)
    network.send([1, 2], from: from, to: Endpoint(b.v4, port: 2000), hopLimit: 9)
    let expected = Datagram(
      [1, 2], from: Endpoint(a.v4, port: 1000), to: Endpoint(b.v4, port: 2000), interface: 2,
      hopLimit: 9)
    #expect(network.nextEvent() == .datagram(expected, on: to))
    #expect(network.now == .zero + .milliseconds(1))
    #expect(network.nextEvent() == nil)
  }

  @Test func `link-local addresses have the scope of the receiver`() {
    var (network, a, b) = makePair()
    let from = network.bind(a)
    _ = network.bind(b, port: 2000)
    network.send([1], from: from, to: Endpoint(b.v6, port: 2000))
    guard case .datagram(let datagram, _) = network.nextEvent() else {
      Issue.record("nothing came")
      return
    }
    #expect(datagram.source == Endpoint(a.v6, port: network.port(of: from)))
    #expect(datagram.destination.address == b.v6)
  }

  @Test func `multicast reaches all members on the segment, including the sender's machine`() {
    var (network, a, b) = makePair()
    let beside = network.addHost(beside: a)
    let elsewhere = network.addHost(on: [7])
    let sockets = [a, b, beside, elsewhere].map { network.bind($0, port: 5353) }
    for socket in sockets { network.join(Self.group, on: socket) }
    _ = network.bind(b, port: 5353)  // not a member
    network.send([1], from: sockets[0], to: Endpoint(Self.group, port: 5353), hopLimit: 255)
    let reached = events(of: &network).map(\.host)
    #expect(Set(reached) == [a.id, b.id, beside.id])
    #expect(network.counters.multicastsSent == 1)
    #expect(network.counters.datagramsDelivered == 3)
  }

  @Test func `multicast is sent on the given interface`() {
    var network = VirtualNetwork(seed: 1, conditions: .steady)
    let router = network.addHost(on: [0, 1])
    let hosts = [network.addHost(on: [0]), network.addHost(on: [1])]
    for host in hosts { network.join(Self.group, on: network.bind(host, port: 5353)) }
    let socket = network.bind(router, port: 5353)
    network.send([1], from: socket, to: Endpoint(Self.group, port: 5353), interface: 3)
    #expect(events(of: &network).map(\.host) == [hosts[1].id])
    network.send([1], from: socket, to: Endpoint(Self.group, port: 5353))
    #expect(events(of: &network).map(\.host) == [hosts[0].id])
  }

  @Test func `a socket that has left a group receives nothing from it`() {
    var (network, a, b) = makePair()
    let from = network.bind(a, port: 5353)
    let to = network.bind(b, port: 5353)
    network.join(Self.group, on: to)
    network.leave(Self.group, on: to)
    network.send([1], from: from, to: Endpoint(Self.group, port: 5353))
    #expect(network.nextEvent() == nil)
  }

  @Test func `datagrams that cannot be delivered are counted`() {
    var (network, a, b) = makePair()
    let elsewhere = network.addHost(on: [1])
    let from = network.bind(a)
    let closed = network.bind(b, port: 9)
    _ = network.bind(elsewhere, port: 9)
    network.send([1], from: from, to: Endpoint(b.v4, port: 8))
    network.send([1], from: from, to: Endpoint(elsewhere.v4, port: 9))
    network.send([1], from: from, to: Endpoint(b.v4, port: 9))
    network.close(closed)
    #expect(network.nextEvent() == nil)
    #expect(network.counters.datagramsUnclaimed == 3)
  }

  @Test func `loss, duplication and jitter have the configured rates`() {
    var network = VirtualNetwork(
      seed: 3,
      conditions: LinkConditions(
        delay: .milliseconds(1) ... .milliseconds(5), loss: 0.25, duplication: 0.1))
    let (a, b) = (network.addHost(), network.addHost())
    let from = network.bind(a)
    _ = network.bind(b, port: 9)
    for _ in 0..<10_000 { network.send([0], from: from, to: Endpoint(b.v4, port: 9)) }
    let count = events(of: &network).count
    #expect((7_900...8_600).contains(count))
    #expect((900...1_100).contains(network.counters.datagramsDuplicated))
    #expect(network.now > .zero + .milliseconds(4))
  }

  @Test func `datagrams to loopback addresses stay on the machine`() {
    var (network, a, b) = makePair()
    let from = network.bind(a)
    let own = network.bind(a, port: 9)
    _ = network.bind(b, port: 9)
    network.send([1], from: from, to: Endpoint(.loopback4, port: 9))
    guard case .datagram(let datagram, own) = network.nextEvent() else {
      Issue.record("nothing came")
      return
    }
    #expect(datagram.source.address == .loopback4)
    #expect(network.nextEvent() == nil)
  }

  @Test func `an injected datagram can have any source`() {
    var (network, _, b) = makePair()
    let socket = network.bind(b, port: 9)
    let forged = Datagram(
      [6], from: Endpoint(.v4(1), port: 1), to: Endpoint(b.v4, port: 9), interface: 2)
    network.inject(forged, to: socket)
    #expect(network.nextEvent() == .datagram(forged, on: socket))
  }

  static let group = IPAddress.v4(0xE000_00FB)
}

/// Makes a network of two hosts, by default with a delay of one millisecond and without loss.
func makePair(
  _ conditions: LinkConditions = .steady, seed: UInt64 = 1
) -> (VirtualNetwork, VirtualHost, VirtualHost) {
  var network = VirtualNetwork(seed: seed, conditions: conditions)
  let (a, b) = (network.addHost(), network.addHost())
  return (network, a, b)
}

/// Returns all events up to a limit.
func events(of network: inout VirtualNetwork, until limit: Instant = .distantFuture)
  -> [VirtualEvent]
{
  var events: [VirtualEvent] = []
  while let event = network.nextEvent(notAfter: limit) { events.append(event) }
  return events
}
