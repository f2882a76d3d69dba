import CaromCore
import CaromDNS
import CaromTransport
import Testing

@testable import CaromDiscovery

/// Tests of the sockets, on loopback.
@Suite(.timeLimit(.minutes(1))) struct SocketTests {
  /// Opens a socket that receives everything that is sent to the group on loopback.
  private func makeListener(
    on loop: NetworkLoop, _ events: Events<Datagram>
  ) throws -> UDPSocket {
    var options = UDPOptions()
    options.reuseAddress = true
    options.reusePort = true
    let socket = try UDPSocket(on: loop, bind: MulticastGroup.v4, options: options) { batch in
      for index in batch.indices { events.add(batch[index].copy()) }
    }
    try socket.join(MulticastGroup.v4.address, on: try #require(Loopback.interface).index)
    return socket
  }

  private func isAbout(_ type: ServiceType, _ datagram: Datagram) -> Bool {
    guard let message = try? Message(decoding: datagram.payload) else { return false }
    let names = message.questions.map(\.key.name) + message.answers.map(\.name)
    return names.contains { $0 == type.name() || $0.parent == type.name() }
  }

  @Test func `R1 R60: multicast messages are sent from port 5353 with hop limit 255`()
    async throws
  {
    let type = try Loopback.makeType()
    try await onLoop { loop in
      let received = Events<Datagram>()
      let listener = try makeListener(on: loop, received)
      let core = try DiscoveryCore(on: loop, interfaces: Loopback.selection)
      try core.browse(type) { _ in }
      try core.advertise(Loopback.makeService(type)) { _ in }
      var kinds: Set<String> = []
      while kinds.count < 3 {
        let datagram = await received.next { isAbout(type, $0) }
        #expect(datagram.hopLimit == 255 && datagram.destination == MulticastGroup.v4)
        #expect(datagram.source == Endpoint(.loopback4, port: 5353))
        let message = try Message(decoding: datagram.payload)
        kinds.insert(
          message.isResponse ? "announcement" : message.authorities.isEmpty ? "query" : "probe")
      }
      core.close()
      listener.close()
    }
  }

  @Test func `R46: after a suspension, names are claimed again once, and queries sent again`()
    async throws
  {
    let type = try Loopback.makeType()
    try await onLoop { loop in
      let received = Events<Datagram>()
      let listener = try makeListener(on: loop, received)
      let core = try DiscoveryCore(on: loop, interfaces: Loopback.selection)
      core.timeSuspended = { .seconds(5) }
      let events = Events<DiscoveryCore.AdvertisingEvent>()
      try core.advertise(Loopback.makeService(type)) { events.add($0) }
      _ = await events.next()
      received.skip()
      core.timeSuspended = { .seconds(3605) }
      try core.browse(type) { _ in }
      let probe = await received.next { datagram in
        let message = try? Message(decoding: datagram.payload)
        return isAbout(type, datagram) && message?.authorities.isEmpty == false
      }
      #expect(probe.destination == MulticastGroup.v4)
      // If every datagram began another claim, no claim would end.
      _ = await received.next { datagram in
        let message = try? Message(decoding: datagram.payload)
        return isAbout(type, datagram) && message?.isResponse == true
      }
      core.close()
      listener.close()
    }
  }

  @Test func `every request checks first whether the computer was suspended`() async throws {
    let type = try Loopback.makeType()
    try await onLoop { loop in
      let core = try DiscoveryCore(on: loop, interfaces: Loopback.selection)
      let id = try core.advertise(Loopback.makeService(type)) { _ in }
      let instance = try type.name().prefixed(by: "X")
      var checks = 0
      core.timeSuspended = {
        checks += 1
        return .zero
      }
      try core.update(id, txt: [:])
      try core.update(id, subtypes: [])
      try core.rename(id, to: "Y")
      try core.resolve(instance, within: .seconds(5)) { _ in }
      core.reconfirm(instance)
      #expect(checks == 5)
      core.close()
    }
  }

  /// Sends a query from an ephemeral port, as simple resolvers do.
  private func query(
    _ type: ServiceType, at destination: Endpoint, on loop: NetworkLoop, _ replies: Events<Datagram>
  ) throws -> UDPSocket {
    let socket = try UDPSocket(on: loop, bind: Endpoint(.loopback4, port: 0)) { batch in
      for index in batch.indices { replies.add(batch[index].copy()) }
    }
    try socket.setMulticastInterface(try #require(Loopback.interface).index)
    var query = Message(id: 77)
    query.questions = [Question(type.name(), .ptr)]
    socket.send(query.encoded(), to: destination)
    socket.flush()
    return socket
  }

  @Test func `R27 R60: a unicast response is sent from port 5353 with hop limit 255`() async throws
  {
    let type = try Loopback.makeType()
    try await onLoop { loop in
      let core = try DiscoveryCore(on: loop, interfaces: Loopback.selection)
      let events = Events<DiscoveryCore.AdvertisingEvent>()
      try core.advertise(Loopback.makeService(type)) { events.add($0) }
      _ = await events.next()
      let replies = Events<Datagram>()
      let socket = try query(type, at: MulticastGroup.v4, on: loop, replies)
      let reply = await replies.next()
      #expect(reply.hopLimit == 255 && reply.source.port == 5353)
      #expect(try Message(decoding: reply.payload).id == 77)
      socket.close()
      core.close()
    }
  }

  /// A link with a random loopback address that no other program on this machine uses.
  private func makeLink() -> Link {
    let address = IPAddress.v4(0x7F00_0000 | UInt32.random(in: 0x10000..<0xFF_0000))
    return Link(index: Loopback.interface?.index ?? 1, addresses: [.init(address, prefixLength: 8)])
  }

  /// Claims the link's addresses in two steps, as `DiscoveryCore` does. Returns whether `sockets`
  /// alone is bound to them.
  private func claim(_ sockets: UnicastSockets, _ link: Link) -> Bool {
    for mayBind in [true, false] {
      // A daemon of this machine may hold the wildcard address.
      let bound = UDPSocket.addresses(boundTo: 5353)?.filter { $0 != .any4 && $0 != .any6 }
      _ = sockets.claim(link, among: bound, mayBind: mayBind) { _ in }
    }
    return sockets.hasAll(of: link)
  }

  /// Repeats `claim` until it succeeds. A process that another test is starting may inherit a
  /// closed socket and keep it open for a moment.
  private func claimEventually(_ sockets: UnicastSockets, _ link: Link) async -> Bool {
    for _ in 0..<10_000 {
      if claim(sockets, link) { return true }
      await Task.yield()
    }
    return false
  }

  @Test func `R7: one of several processes receives unicast; another takes over when it ends`()
    async throws
  {
    try await onLoop { loop in
      let link = makeLink()
      let all = (0..<3).map { _ in UnicastSockets(on: loop) }
      for _ in 0..<2 { #expect(all.map { claim($0, link) } == [true, false, false]) }
      all[0].close()
      #expect(await claimEventually(all[1], link) && !claim(all[2], link))
      all[1].close()
    }
  }

  @Test func `R7: of two processes that bind an address at the same moment, one keeps it`()
    async throws
  {
    try await onLoop { loop in
      let link = makeLink()
      let (a, b) = (UnicastSockets(on: loop), UnicastSockets(on: loop))
      let before = UDPSocket.addresses(boundTo: 5353)
      for sockets in [a, b] {
        #expect(sockets.claim(link, among: before, mayBind: true) { _ in })
      }
      #expect(!claim(a, link), "the first to check again releases the address")
      #expect(await claimEventually(b, link))
      b.close()
    }
  }

  @Test func `R7: an address is released while another program is bound to it`()
    async throws
  {
    try await onLoop { loop in
      let link = makeLink()
      let sockets = UnicastSockets(on: loop)
      #expect(claim(sockets, link))
      var options = UDPOptions()
      options.reuseAddress = true
      let local = Endpoint(link.addresses[0].address, port: 5353)
      let other = try UDPSocket(on: loop, bind: local, options: options) { _ in }
      #expect(!claim(sockets, link))
      other.close()
      #expect(await claimEventually(sockets, link))
      sockets.close()
    }
  }

  @Test(arguments: [IPAddress.any4, .any6])
  func `R7: addresses are released while another program holds the wildcard`(
    wildcard: IPAddress
  ) async throws {
    try await onLoop { loop in
      let link = makeLink()
      let sockets = UnicastSockets(on: loop)
      #expect(claim(sockets, link))
      let bound = link.addresses.map(\.address)
      #expect(!sockets.claim(link, among: bound + [wildcard], mayBind: true) { _ in })
      #expect(!sockets.hasAll(of: link))
      #expect(!sockets.claim(link, among: [wildcard], mayBind: true) { _ in })
      #expect(sockets.claim(link, among: [], mayBind: true) { _ in } && sockets.hasAll(of: link))
      sockets.close()
    }
  }

  @Test func `R7: all addresses of a link are released if another program has one of them`()
    async throws
  {
    try await onLoop { loop in
      let address = IPAddress.v4(0x7F00_0000 | UInt32.random(in: 0x10000..<0xFF_0000))
      var link = makeLink()
      link.addresses.append(.init(address, prefixLength: 8))
      let sockets = UnicastSockets(on: loop)
      #expect(claim(sockets, link))
      let bound = link.addresses.map(\.address) + [address]
      #expect(!sockets.claim(link, among: bound, mayBind: true) { _ in })
      link.addresses.removeAll { $0.address == address }
      #expect(!sockets.hasAll(of: link))
      sockets.close()
    }
  }

  @Test func `R7: unicast is requested only if this process alone has all addresses of a link`()
    async throws
  {
    try await onLoop { loop in
      var link = makeLink()
      let sockets = UnicastSockets(on: loop)
      let bound = link.addresses.map(\.address)
      #expect(!sockets.claim(link, among: bound, mayBind: true) { _ in }, "it has another owner")
      #expect(!sockets.hasAll(of: link))
      // An address for documentation, which no interface has and no socket can be bound to.
      link.addresses.append(.init(.v4(0xC000_0201), prefixLength: 24))
      #expect(sockets.claim(link, among: [], mayBind: true) { _ in })
      #expect(!sockets.hasAll(of: link))
      link.addresses.removeLast()
      #expect(sockets.hasAll(of: link))
      sockets.close()
    }
  }

  @Test func `R19 R59: unicast datagrams are accepted only from hosts on the link`() throws {
    let link = Link(
      index: 2,
      addresses: [
        .init(.v4(0x0A4D_0001), prefixLength: 24),
        .init(.v6(high: 0xFE80 << 48, low: 1, scope: 0), prefixLength: 64),
      ])
    let isFromLink = { (source: IPAddress, arrival: UInt32) in
      InterfaceSocket.isOnLink(link, source, arrival: arrival)
    }
    #expect(isFromLink(.v4(0x0A4D_0009), 2))
    #expect(isFromLink(.v6(high: 0xFE80 << 48, low: 9, scope: 2), 2))
    #expect(isFromLink(.v4(0x0A4D_0001), 1), "this host itself, through loopback")
    #expect(!isFromLink(.v4(0x0A4D_0009), 3), "the right subnet on the wrong interface")
    #expect(!isFromLink(.v4(0x0808_0808), 2))
    #expect(!isFromLink(.v6(high: 0x2001 << 48, low: 9, scope: 0), 2))
  }

  @Test func `a batch of datagrams is handled completely before events are delivered`()
    async throws
  {
    let type = try Loopback.makeType()
    // Few, since other tests' datagrams to the group are in the same batch.
    let count = 4
    try await onLoop { loop in
      let core = try DiscoveryCore(on: loop, interfaces: Loopback.selection)
      let known = Events<Int>()
      var isFirst = true
      try core.browse(type) { _ in
        guard isFirst else { return }
        isFirst = false
        var inCache = 0
        _ = try? core.browse(type) { _ in inCache += 1 }
        known.add(inCache)
      }
      // The kernel queues all of the datagrams before the loop receives again: one batch.
      let host = IPAddress.v4(0x7F00_0000 | UInt32.random(in: 0x10000..<0xFF_0000))
      var options = UDPOptions()
      options.reuseAddress = true
      let socket = try UDPSocket(on: loop, bind: Endpoint(host, port: 5353), options: options) {
        _ in
      }
      try socket.setMulticastInterface(try #require(Loopback.interface).index)
      for index in 0..<count {
        var response = Message(id: 0, isResponse: true)
        let instance = try type.name().prefixed(by: "service \(index)")
        response.answers = [Record(type.name(), .pointer(instance), timeToLive: 60)]
        socket.send(response.encoded(), to: MulticastGroup.v4)
      }
      socket.flush()
      #expect(await known.next() == count)
      socket.close()
      core.close()
    }
  }

  @Test func `malformed and oversized datagrams are dropped, and the counts outlive the sockets`()
    async throws
  {
    let type = try Loopback.makeType()
    try await onLoop { loop in
      let core = try DiscoveryCore(on: loop, interfaces: Loopback.selection)
      let socket = try UDPSocket(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
      try socket.setMulticastInterface(try #require(Loopback.interface).index)
      socket.send([1, 2, 3], to: MulticastGroup.v4)
      socket.send([UInt8](repeating: 0, count: 9001), to: MulticastGroup.v4)
      socket.flush()
      let events = Events<ServiceChange>()
      try core.browse(type) { events.add($0) }
      try core.advertise(Loopback.makeService(type)) { _ in }
      _ = await events.next()
      let counters = core.counters
      #expect(counters.malformed >= 1 && counters.oversized >= 1)
      socket.close()
      core.close()
      #expect(core.counters == counters)
    }
  }
}
