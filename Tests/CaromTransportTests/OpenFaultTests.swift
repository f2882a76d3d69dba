#if os(Linux)
  import CSystemCalls
  import CUVLoop
  import CaromCore
  import Glibc
  import Testing

  @testable import CaromTransport

  /// Tests of opening: each step fails once. The error is typed, nothing stays open, and the next
  /// attempt succeeds.
  @Suite(.timeLimit(.minutes(1))) struct OpenFaultTests {
    private static func option(_ level: Int32, _ name: Int32) -> Int32 { sc_option(level, name) }
    private static let socketLevel = SOL_SOCKET
    private static let (ip, ipv6) = (Int32(IPPROTO_IP), Int32(IPPROTO_IPV6))

    /// The failures of `socket` and of the poll handle, which every kind of socket has.
    private static func common(_ operation: StaticText) -> [FailingCall] {
      func other(_ code: Int32) -> TransportError { .system(code: code, operation: operation) }
      return [
        FailingCall("socket", SC_SOCKET, EMFILE, .outOfDescriptors),
        FailingCall("socket", SC_SOCKET, ENFILE, .outOfDescriptors),
        FailingCall("socket", SC_SOCKET, ENOBUFS, other(ENOBUFS)),
        FailingCall("socket", SC_SOCKET, ENOMEM, other(ENOMEM)),
        FailingCall("socket", SC_SOCKET, EACCES, .permissionDenied),
        FailingCall("socket", SC_SOCKET, EPERM, .permissionDenied),
        FailingCall("socket", SC_SOCKET, EAFNOSUPPORT, .unreachable),
        FailingCall("epoll_ctl", SC_EPOLL_CTL, ENOSPC, other(ENOSPC), detail: Missing.epollAdd),
        FailingCall("epoll_ctl", SC_EPOLL_CTL, ENOMEM, other(ENOMEM), detail: Missing.epollAdd),
        FailingCall("calloc", SC_CALLOC, ENOMEM, other(ENOMEM)),
      ]
    }

    /// The failures of binding, which sockets that have a port share.
    private static func binding(_ operation: StaticText) -> [FailingCall] {
      func other(_ code: Int32) -> TransportError { .system(code: code, operation: operation) }
      let share = option(socketLevel, SO_REUSEPORT)
      return [
        FailingCall(
          "SO_REUSEADDR", SC_SETSOCKOPT, ENOMEM, other(ENOMEM),
          detail: option(socketLevel, SO_REUSEADDR)),
        FailingCall(
          "SO_REUSEPORT", SC_SETSOCKOPT, ENOPROTOOPT, .portSharingUnsupported, detail: share),
        FailingCall("SO_REUSEPORT", SC_SETSOCKOPT, EPERM, .permissionDenied, detail: share),
        FailingCall("bind", SC_BIND, EADDRINUSE, .addressInUse(port: 0)),
        FailingCall("bind", SC_BIND, EACCES, .permissionDenied),
        FailingCall("bind", SC_BIND, EINVAL, other(EINVAL)),
        FailingCall("bind", SC_BIND, ENOMEM, other(ENOMEM)),
      ]
    }

    private static func bindingV6(_ operation: StaticText) -> FailingCall {
      FailingCall(
        "IPV6_V6ONLY", SC_SETSOCKOPT, ENOPROTOOPT,
        .system(code: ENOPROTOOPT, operation: operation), detail: option(ipv6, IPV6_V6ONLY))
    }

    /// Opens twice: the first attempt meets the fault and fails, the second one succeeds.
    private func check(_ failing: FailingCall, _ open: () async throws -> Void) async throws {
      let before = Fault.descriptors
      let fault = failing.arm()
      var thrown: TransportError?
      do { try await open() } catch { thrown = error as? TransportError }
      #expect(thrown == failing.error)
      #expect(fault.hits == 1 && Fault.descriptors == before)
      try await open()
    }

    // UDP

    private static let udpOptions = {
      var options = UDPOptions()
      options.reuseAddress = true
      options.reusePort = true
      return options
    }()

    private static func naming(_ skipped: Int) -> FailingCall {
      let error = TransportError.system(code: ENOBUFS, operation: "name a socket")
      return FailingCall("getsockname", SC_GETSOCKNAME, ENOBUFS, error, after: skipped)
    }

    @Test(
      arguments: common("open a UDP socket") + binding("open a UDP socket") + [
        FailingCall("bind", SC_BIND, EADDRNOTAVAIL, .addressNotAvailable(.loopback4)),
        FailingCall(
          "IP_PKTINFO", SC_SETSOCKOPT, ENOPROTOOPT,
          .system(code: ENOPROTOOPT, operation: "open a UDP socket"), detail: option(ip, 8)),
        FailingCall(
          "IP_RECVTTL", SC_SETSOCKOPT, ENOPROTOOPT,
          .system(code: ENOPROTOOPT, operation: "open a UDP socket"), detail: option(ip, 12)),
        FailingCall(
          "IP_MULTICAST_ALL", SC_SETSOCKOPT, ENOPROTOOPT,
          .system(code: ENOPROTOOPT, operation: "open a UDP socket"), detail: option(ip, 49)),
        FailingCall(
          "malloc", SC_MALLOC, ENOMEM, .system(code: ENOMEM, operation: "open a UDP socket"),
          limit: 64 * 2048),
        FailingCall(
          "getsockname", SC_GETSOCKNAME, ENOBUFS,
          .system(code: ENOBUFS, operation: "open a UDP socket")),
        naming(1),
      ])
    func `a UDP socket that cannot be opened throws and leaves nothing open`(
      failing: FailingCall
    ) async throws {
      try await onLoop { loop in
        try await check(failing) {
          _ = try UDPSocket(
            on: loop, bind: Endpoint(.loopback4, port: 0), options: Self.udpOptions
          ) { _ in }
        }
      }
    }

    @Test(arguments: [
      bindingV6("open a UDP socket"),
      FailingCall(
        "IPV6_RECVPKTINFO", SC_SETSOCKOPT, ENOPROTOOPT,
        .system(code: ENOPROTOOPT, operation: "open a UDP socket"), detail: option(ipv6, 49)),
      FailingCall(
        "IPV6_RECVHOPLIMIT", SC_SETSOCKOPT, ENOPROTOOPT,
        .system(code: ENOPROTOOPT, operation: "open a UDP socket"), detail: option(ipv6, 51)),
    ])
    func `an IPv6 socket whose options are refused throws and leaves nothing open`(
      failing: FailingCall
    ) async throws {
      try await onLoop { loop in
        try await check(failing) {
          _ = try UDPSocket(on: loop, bind: Endpoint(.loopback6, port: 0)) { _ in }
        }
      }
    }

    @Test func `sizes of buffers and MTU discovery that are refused do not prevent opening`()
      async throws
    {
      try await onLoop { loop in
        var options = UDPOptions()
        options.receiveBuffer = 1 << 16
        options.sendBuffer = 1 << 16
        options.probesMTU = true
        options.v6Only = false
        let details = [
          sc_option(SOL_SOCKET, SO_RCVBUF), sc_option(SOL_SOCKET, SO_SNDBUF),
          sc_option(Self.ip, 10), sc_option(Self.ipv6, 23), sc_option(Self.ipv6, 29),
        ]
        let faults = details.map { Fault(SC_SETSOCKOPT, EPERM, detail: $0) }
        let (socket, received) = try makeReceiver(on: loop, bind: .any6, options: options)
        #expect(faults.allSatisfy { $0.hits == 1 })
        let target = Endpoint(.loopback6, port: socket.localEndpoint.port)
        socket.send([1], to: target)
        socket.flush()
        #expect(await received.next().payload == [1])
      }
    }

    // TCP

    @Test(
      arguments: common("listen") + binding("listen") + [
        FailingCall("bind", SC_BIND, EADDRNOTAVAIL, .addressNotAvailable(.loopback4)),
        FailingCall("listen", SC_LISTEN, EADDRINUSE, .addressInUse(port: 0)),
        FailingCall(
          "getsockname", SC_GETSOCKNAME, ENOBUFS,
          .system(code: ENOBUFS, operation: "name a listener")),
      ])
    func `a listener that cannot be opened throws and leaves nothing open`(
      failing: FailingCall
    ) async throws {
      try await onLoop { loop in
        var options = TCPListener.Options()
        options.reusePort = true
        try await check(failing) {
          _ = try TCPListener(
            on: loop, bind: Endpoint(.loopback4, port: 0), options: options
          ) { _ in }
        }
      }
    }

    @Test func `an IPv6 listener whose options are refused throws and leaves nothing open`()
      async throws
    {
      try await onLoop { loop in
        try await check(Self.bindingV6("listen")) {
          _ = try TCPListener(on: loop, bind: Endpoint(.loopback6, port: 0)) { _ in }
        }
      }
    }

    @Test(
      arguments: common("connect") + [
        FailingCall("connect", SC_CONNECT, ECONNREFUSED, .connectionRefused),
        FailingCall("connect", SC_CONNECT, ENETUNREACH, .unreachable),
        FailingCall("connect", SC_CONNECT, EHOSTUNREACH, .unreachable),
        FailingCall("connect", SC_CONNECT, ETIMEDOUT, .timedOut),
        FailingCall("connect", SC_CONNECT, EACCES, .permissionDenied),
        FailingCall("connect", SC_CONNECT, EPERM, .permissionDenied),
        FailingCall("connect", SC_CONNECT, EADDRNOTAVAIL, .addressNotAvailable(.loopback4)),
        FailingCall(
          "connect", SC_CONNECT, EAGAIN, .system(code: EAGAIN, operation: "connect")),
        FailingCall(
          "getsockopt", SC_GETSOCKOPT, ENOBUFS, .system(code: ENOBUFS, operation: "connect")),
        FailingCall(
          "getsockname", SC_GETSOCKNAME, ENOBUFS,
          .system(code: ENOBUFS, operation: "name a stream"), after: 1),
      ])
    func `a connection attempt that fails throws and leaves nothing open`(
      failing: FailingCall
    ) async throws {
      try await onLoop { loop in
        let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
        listener.setAccepting(false)
        // The listener is polled here, so that the next descriptor that is polled is the stream's.
        try await loop.sleep(until: loop.now)
        try await check(failing) {
          _ = try await TCPStream.connect(to: [listener.localEndpoint], on: loop)
        }
      }
    }

    @Test(arguments: [
      (ETIMEDOUT, TransportError.timedOut), (EHOSTUNREACH, .unreachable),
      (ENETUNREACH, .unreachable), (ECONNRESET, .connectionReset),
    ])
    func `a connection attempt that ends with an error throws and leaves nothing open`(
      code: Int32, error: TransportError
    ) async throws {
      try await onLoop { loop in
        let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
        listener.setAccepting(false)
        let before = Fault.descriptors
        let fault = Fault(SC_GETSOCKOPT, limit: Int(code))
        await #expect(throws: error) {
          _ = try await TCPStream.connect(to: [listener.localEndpoint], on: loop)
        }
        #expect(fault.hits == 1 && Fault.descriptors == before)
      }
    }

    @Test func `after an attempt without a descriptor the next endpoint is tried`() async throws {
      try await onLoop { loop in
        let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
        let good = listener.localEndpoint
        let fault = Fault(SC_SOCKET, EMFILE)
        let stream = try await TCPStream.connect(
          to: [Endpoint(.loopback6, port: good.port), good], on: loop)
        #expect(fault.hits == 1 && stream.peerEndpoint == good)
      }
    }

    @Test(arguments: [
      (SC_CONNECT, EINTR), (SC_SETSOCKOPT, ENOPROTOOPT), (SC_GETPEERNAME, ENOTCONN),
      (SC_GETSOCKNAME, ENOBUFS),
    ])
    func `an attempt goes on when it is interrupted or the system withholds a detail`(
      call: sc_call, code: Int32
    ) async throws {
      try await onLoop { loop in
        let accepted = Events<TCPStream>()
        let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { event in
          if case .accepted(let stream) = event { accepted.add(stream) }
        }
        listener.setAccepting(false)
        let fault = Fault(call, code)
        let client = try await TCPStream.connect(to: [listener.localEndpoint], on: loop)
        #expect(fault.hits == 1)
        listener.setAccepting(true)
        try client.write([1, 2])
        let server = await accepted.next()
        #expect(await server.watch().next() == .bytes([1, 2]))
      }
    }

    @Test(arguments: [
      FailingCall(
        "calloc", SC_CALLOC, ENOMEM, .system(code: ENOMEM, operation: "open a stream")),
      FailingCall(
        "epoll_ctl", SC_EPOLL_CTL, ENOSPC, .system(code: ENOSPC, operation: "open a stream"),
        detail: Missing.epollAdd),
      FailingCall(
        "getsockname", SC_GETSOCKNAME, ENOBUFS,
        .system(code: ENOBUFS, operation: "name a stream")),
    ])
    func `attaching a stream that fails throws and closes the connection`(
      failing: FailingCall
    ) async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let client = pair.client.watch()
        try await pass(on: loop)
        let detached = try pair.server.detach()
        let before = Fault.descriptors
        let fault = failing.arm()
        #expect(throws: failing.error) { _ = try TCPStream(on: loop, attaching: detached) }
        #expect(fault.hits == 1 && Fault.descriptors == before - 1)
        let end = await client.next()
        #expect(end == .end || end == .closed(.connectionReset))
      }
    }

    // Others

    @Test(arguments: [
      FailingCall("fcntl", SC_FCNTL, EMFILE, .outOfDescriptors, detail: F_DUPFD_CLOEXEC),
      FailingCall("epoll_ctl", SC_EPOLL_CTL, EPERM, .permissionDenied, detail: Missing.epollAdd),
      FailingCall(
        "epoll_ctl", SC_EPOLL_CTL, ENOSPC,
        .system(code: ENOSPC, operation: "watch a descriptor"), detail: Missing.epollAdd),
      FailingCall(
        "calloc", SC_CALLOC, ENOMEM, .system(code: ENOMEM, operation: "watch a descriptor")),
    ])
    func `a descriptor that cannot be watched throws and stays the caller's`(
      failing: FailingCall
    ) async throws {
      try await onLoop { loop in
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        let descriptor = ends[0]
        try await check(failing) { _ = try DescriptorWatch(on: loop, descriptor: descriptor) {} }
        for end in ends { #expect(close(end) == 0) }
      }
    }

    @Test(
      arguments: common("watch the interfaces") + [
        FailingCall("bind", SC_BIND, EPERM, .permissionDenied),
        FailingCall(
          "bind", SC_BIND, ENOMEM, .system(code: ENOMEM, operation: "watch the interfaces")),
      ])
    func `a monitor that cannot be opened throws and leaves nothing open`(
      failing: FailingCall
    ) async throws {
      try await onLoop { loop in
        try await check(failing) { _ = try InterfaceMonitor(on: loop) {} }
      }
    }

    @Test(arguments: [
      FailingCall("timerfd_create", SC_TIMERFD_CREATE, EMFILE, .outOfDescriptors),
      FailingCall("timerfd_create", SC_TIMERFD_CREATE, ENFILE, .outOfDescriptors),
      FailingCall(
        "timerfd_create", SC_TIMERFD_CREATE, ENOMEM, .system(code: ENOMEM, operation: "timer")),
      FailingCall(
        "epoll_ctl", SC_EPOLL_CTL, ENOSPC, .system(code: ENOSPC, operation: "timer"),
        detail: Missing.epollAdd),
      FailingCall("calloc", SC_CALLOC, ENOMEM, .system(code: ENOMEM, operation: "timer")),
    ])
    func `a system timer that cannot be opened is an error and leaves nothing open`(
      failing: FailingCall
    ) async throws {
      try await onLoop { loop in
        let core = loop.core
        try await check(failing) {
          var timer: OpaquePointer?
          let status = unsafe cuv_timer_create(core.handle!, core.context, { _ in }, &timer)
          try CaromTransport.check(status, "timer")
          unsafe cuv_timer_destroy(timer!)
        }
      }
    }
  }
#endif
