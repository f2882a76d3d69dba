#if os(Linux)
  import CaromCore
  import TestClock
  import Testing

  @testable import CaromTransport

  /// The list of interfaces in a network namespace with known interfaces (`Interface`,
  /// `Interfaces.list`).
  @Suite(
    .timeLimit(.minutes(1)), .enabled(if: OwnNetwork.isPossible, "needs root and iproute2"))
  struct InterfaceListTests {
    @Test func `interfaces are listed by index, with addresses in order and prefix lengths`()
      async throws
    {
      try await onLoop { _ in
        guard OwnNetwork.enter() else { return }
        OwnNetwork.ip(
          "link set lo up", "link add near type veth peer name far",
          "link set near mtu 1400", "link set near up", "link set far up",
          "addr add 192.168.7.1/24 dev near", "addr add 10.0.0.9/8 dev near",
          "addr add fd00::9/64 dev near nodad", "addr add fd00::1/48 dev near nodad",
          "addr add 10.1.0.1 peer 10.1.0.2/30 dev far")
        let list = try Interfaces.list()
        #expect(list.map(\.index) == list.map(\.index).sorted())
        #expect(Set(list.map(\.name)).isSuperset(of: ["lo", "near", "far"]))
        let near = try #require(list.first { $0.name == "near" })
        let global = near.addresses.filter { !$0.address.isLinkLocal }
        #expect(
          global == [
            .init(.v4(0x0A00_0009), prefixLength: 8), .init(.v4(0xC0A8_0701), prefixLength: 24),
            .init(IPAddress("fd00::1")!, prefixLength: 48),
            .init(IPAddress("fd00::9")!, prefixLength: 64),
          ])
        #expect(near.largestPacket == 1400 && near.isUp && near.isRunning)
        #expect(near.supportsMulticast && !near.isLoopback && !near.isPointToPoint)
        let far = try #require(list.first { $0.name == "far" })
        // On a link with a peer's address, the address is this host's.
        #expect(
          far.addresses.filter { !$0.address.isV6 } == [.init(.v4(0x0A01_0001), prefixLength: 30)])
        #expect(far.largestPacket == 1500)
        let loopback = try #require(list.first { $0.name == "lo" })
        #expect(loopback.isLoopback && loopback.isUp && loopback.largestPacket == 65_536)
        #expect(loopback.addresses.first == .init(.loopback4, prefixLength: 8))
      }
    }

    @Test func `an interface that is down is listed as such, with its addresses`() async throws {
      try await onLoop { _ in
        guard OwnNetwork.enter() else { return }
        OwnNetwork.ip(
          "link add near type veth peer name far", "addr add 10.0.0.9/8 dev near")
        let near = try #require(try Interfaces.list().first { $0.name == "near" })
        #expect(!near.isUp && !near.isRunning && near.index > 0)
        #expect(near.addresses == [.init(.v4(0x0A00_0009), prefixLength: 8)])
      }
    }

    @Test(arguments: [30, 31, 32, 33, 100])
    func `a list of any length is complete`(count: Int) async throws {
      try await onLoop { _ in
        guard OwnNetwork.enter() else { return }
        OwnNetwork.addCable()
        OwnNetwork.ip((1...count).map { "addr add 10.0.0.\($0)/8 dev near" })
        let near = try #require(try Interfaces.list().first { $0.name == "near" })
        let addresses = near.addresses.map(\.address).filter { !$0.isV6 }
        #expect(addresses == (1...count).map { .v4(0x0A00_0000 + UInt32($0)) })
      }
    }

    @Test func `the scope of a link-local address is its interface`() async throws {
      try await onLoop { loop in
        guard OwnNetwork.enter() else { return }
        OwnNetwork.addCable()
        OwnNetwork.ip("addr add fe80::77/64 dev near nodad")
        let near = try #require(try Interfaces.list().first { $0.name == "near" })
        let own = IPAddress.v6(high: 0xFE80_0000_0000_0000, low: 0x77, scope: near.index)
        #expect(near.addresses.contains(.init(own, prefixLength: 64)))
        // A datagram to the address keeps the scope, in both directions.
        let (socket, received) = try makeReceiver(on: loop, bind: own)
        #expect(socket.localEndpoint.address == own)
        OwnNetwork.ip("link set lo up")
        // The system may drop datagrams until it has noticed the cable, up to a second later.
        for _ in 0..<500 where received.count == 0 {
          socket.send([1], to: socket.localEndpoint)
          socket.flush()
          try await loop.sleep(until: loop.now + .milliseconds(20))
        }
        let datagram = try #require(received.first)
        #expect(datagram.source == socket.localEndpoint)
        #expect(datagram.destination == socket.localEndpoint)
      }
    }

    @Test func `a change is reported after 50 milliseconds, although others follow it`()
      async throws
    {
      try await onLoop { loop in
        guard OwnNetwork.enter() else { return }
        OwnNetwork.ip("link add near type veth peer name far")
        let clock = StoppedClock(of: loop)
        var reports = 0
        let monitor = try InterfaceMonitor(on: loop) { reports += 1 }
        #expect(InterfaceMonitor.coalescingInterval == .milliseconds(50))
        OwnNetwork.ip("addr add 10.0.0.1/8 dev near")
        try await clock.advance(by: .zero)
        try await clock.advance(by: .milliseconds(30))
        OwnNetwork.ip("addr add 10.0.0.2/8 dev near")
        try await clock.advance(by: .zero)
        try await clock.advance(by: .milliseconds(20) - .nanoseconds(1))
        #expect(reports == 0)
        try await clock.advance(by: .nanoseconds(1))
        #expect(reports == 1)
        try await clock.advance(by: .seconds(1))
        #expect(reports == 1)
        OwnNetwork.ip("addr del 10.0.0.2/8 dev near")
        try await clock.advance(by: .zero)
        try await clock.advance(by: .milliseconds(50))
        #expect(reports == 2)
        monitor.stop()
      }
    }

    @Test func `a monitor that is stopped reports no further change`() async throws {
      try await onLoop { loop in
        guard OwnNetwork.enter() else { return }
        let (stopped, changes) = (Events<Void>(), Events<Void>())
        let first = try InterfaceMonitor(on: loop) { stopped.add(()) }
        let second = try InterfaceMonitor(on: loop) { changes.add(()) }
        first.stop()
        OwnNetwork.addCable()
        await changes.next()
        #expect(stopped.count == 0)
        second.stop()
      }
    }
  }
#endif
