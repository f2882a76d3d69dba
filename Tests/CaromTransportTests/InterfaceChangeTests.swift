#if os(Linux)
  import CaromCore
  import Testing

  @testable import CaromTransport

  /// Tests of changing interfaces, each in a network namespace of its own.
  @Suite(
    .timeLimit(.minutes(1)), .enabled(if: OwnNetwork.isPossible, "needs root and iproute2"))
  struct InterfaceChangeTests {
    /// Runs a script of `ip` commands, then waits until the interface "near" satisfies `isRight`.
    /// It is checked whenever the monitor reports a change.
    private func change(
      on loop: NetworkLoop, _ script: [String], until isRight: (Interface) -> Bool
    ) async throws -> Interface {
      let changes = Events<Void>()
      let monitor = try InterfaceMonitor(on: loop) { changes.add(()) }
      defer { monitor.stop() }
      OwnNetwork.ip(script)
      while true {
        await changes.next()
        if let interface = try Interfaces.list().first(where: { $0.name == "near" }),
          isRight(interface)
        {
          return interface
        }
      }
    }

    @Test func `carrier changes are counted`() async throws {
      try await onLoop { loop in
        guard OwnNetwork.enter() else { return }
        let before = try await change(
          on: loop,
          ["link add near type veth peer name far", "link set near up", "link set far up"]
        ) { $0.isRunning }
        let out = try await change(on: loop, ["link set far down"]) { !$0.isRunning }
        #expect(out.isUp && out.carrierChanges > before.carrierChanges)
        let after = try await change(on: loop, ["link set far up"]) { $0.isRunning }
        #expect(after.carrierChanges > out.carrierChanges)
        #expect(after.index == before.index && after.largestPacket == 1500)
      }
    }

    @Test func `addresses are added and removed; tentative ones are listed once they are unique`()
      async throws
    {
      try await onLoop { loop in
        guard OwnNetwork.enter() else { return }
        OwnNetwork.addCable()
        let first = try await change(
          on: loop, ["addr add 10.9.0.1/24 dev near", "addr add fd99::1/64 dev near"]
        ) { !$0.addresses.isEmpty }
        #expect(first.addresses.map(\.address) == [.v4(0x0A09_0001)])
        let isComplete: (Interface) -> Bool = { $0.addresses.count == 3 }
        let all = try await change(on: loop, ["link set near alias cable"], until: isComplete)
        #expect(all.addresses.contains { $0.address.isLinkLocal && $0.address.isV6 })
        let less = try await change(on: loop, ["addr del 10.9.0.1/24 dev near"]) {
          $0.addresses.count == 2
        }
        #expect(less.addresses.allSatisfy { $0.address.isV6 && $0.prefixLength == 64 })
      }
    }

    @Test func `an interface whose name has 15 characters, the most possible, is listed`()
      async throws
    {
      try await onLoop { _ in
        guard OwnNetwork.enter() else { return }
        let name = "enx0123456789ab"
        OwnNetwork.ip("link add \(name) type veth peer name far")
        let interface = try Interfaces.list().first { $0.name == name }
        #expect(interface?.supportsMulticast == true)
      }
    }

    @Test func `a burst of changes, more than the kernel queues, causes few calls`()
      async throws
    {
      try await onLoop { loop in
        guard OwnNetwork.enter() else { return }
        OwnNetwork.addCable()
        var told = 0
        let changes = Events<Void>()
        let monitor = try InterfaceMonitor(on: loop) {
          told += 1
          changes.add(())
        }
        // The loop's thread is blocked by the tool meanwhile, so the kernel's queue overflows.
        let numbers = (1...2000).map { "10.\($0 / 200).\($0 % 200 + 1).1/32" }
        OwnNetwork.ip(numbers.map { "addr add \($0) dev near" })
        var found = 0
        while found < numbers.count {
          await changes.next()
          found = try Interfaces.list().first { $0.name == "near" }?.addresses.count ?? 0
        }
        #expect(told < 20)
        monitor.stop()
      }
    }

    @Test func `the sockets bound to a port are listed, once each`() async throws {
      try await onLoop { loop in
        guard OwnNetwork.enter() else { return }
        OwnNetwork.ip("link set lo up")
        var options = UDPOptions()
        options.reuseAddress = true
        let addresses: [IPAddress] = [.any4, .loopback4, .loopback4, .any6, .loopback6]
        let sockets = try addresses.map {
          try UDPSocket(on: loop, bind: Endpoint($0, port: 5353), options: options) { _ in }
        }
        #expect(UDPSocket.addresses(boundTo: 5353)?.sorted() == addresses.sorted())
        #expect(UDPSocket.addresses(boundTo: 5354) == [])
        for socket in sockets { socket.close() }
      }
    }
  }
#endif
