#if os(Linux)
  import CSystemCalls
  import CaromCore
  import Glibc
  import Testing

  @testable import CaromTransport

  /// Tests of what a UDP socket does when sending and receiving fail.
  @Suite(.timeLimit(.minutes(1))) struct UDPFaultTests {
    /// Payloads of increasing length, which the socket never sends as segments of one message.
    private static let payloads = (1...10).map { [UInt8](repeating: UInt8($0), count: $0) }

    private func receive(_ count: Int, from events: Events<Datagram>) async -> [[UInt8]] {
      var all: [[UInt8]] = []
      while all.count < count { all.append(await events.next().payload) }
      return all
    }

    @Test func `datagrams for which there is no room are sent as soon as there is`() async throws {
      try await onLoop { loop in
        let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
        let fault = Fault(SC_SENDMMSG, EAGAIN, count: 2)
        for payload in Self.payloads { socket.send(payload, to: socket.localEndpoint) }
        socket.flush()
        #expect(socket.queuedBytes == 55 && socket.counters.blocked == 1)
        socket.flush()
        #expect(fault.hits == 1, "a blocked socket waits until it is writable")
        #expect(await receive(10, from: received) == Self.payloads)
        #expect(fault.hits == 2 && socket.counters.blocked == 2 && socket.queuedBytes == 0)
        #expect(socket.counters.sent == 10 && socket.counters.sendErrors == 0)
      }
    }

    @Test func `an interrupted send is repeated at once`() async throws {
      try await onLoop { loop in
        let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
        let fault = Fault(SC_SENDMMSG, EINTR, count: 3)
        for payload in Self.payloads { socket.send(payload, to: socket.localEndpoint) }
        socket.flush()
        #expect(fault.hits == 3 && socket.queuedBytes == 0 && socket.counters.blocked == 0)
        #expect(await receive(10, from: received) == Self.payloads)
      }
    }

    @Test(arguments: 1...9)
    func `the rest of a batch follows when the system accepts a part of it`(part: Int) async throws
    {
      try await onLoop { loop in
        let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
        let short = Fault(SC_SENDMMSG, limit: part)
        let full = Fault(SC_SENDMMSG, EAGAIN)
        for payload in Self.payloads { socket.send(payload, to: socket.localEndpoint) }
        socket.flush()
        #expect(short.hits == 1 && full.hits == 1 && socket.counters.sent == part)
        #expect(await receive(10, from: received) == Self.payloads)
        #expect(socket.counters.sent == 10 && socket.counters.sentBytes == 55)
      }
    }

    @Test(arguments: [
      FailingCall("sendmmsg", SC_SENDMMSG, EPERM, .permissionDenied),
      FailingCall("sendmmsg", SC_SENDMMSG, EACCES, .permissionDenied),
      FailingCall("sendmmsg", SC_SENDMMSG, ENETDOWN, .unreachable),
      FailingCall("sendmmsg", SC_SENDMMSG, ENETUNREACH, .unreachable),
      FailingCall("sendmmsg", SC_SENDMMSG, EHOSTUNREACH, .unreachable),
      FailingCall("sendmmsg", SC_SENDMMSG, ECONNREFUSED, .connectionRefused),
      FailingCall("sendmmsg", SC_SENDMMSG, EMSGSIZE, .messageTooLarge),
      FailingCall("sendmmsg", SC_SENDMMSG, ENODEV, .noSuchInterface),
      FailingCall(
        "sendmmsg", SC_SENDMMSG, EINVAL, .system(code: EINVAL, operation: "send a datagram")),
      FailingCall(
        "sendmmsg", SC_SENDMMSG, ENOBUFS, .system(code: ENOBUFS, operation: "send a datagram")),
      FailingCall(
        "sendmmsg", SC_SENDMMSG, ENOMEM, .system(code: ENOMEM, operation: "send a datagram")),
    ])
    func `a rejected datagram is counted with its error, and the others are sent`(
      failing: FailingCall
    ) async throws {
      try await onLoop { loop in
        let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
        #expect(socket.lastSendError == nil)
        let short = Fault(SC_SENDMMSG, limit: 3)
        let fault = failing.arm()
        for payload in Self.payloads { socket.send(payload, to: socket.localEndpoint) }
        socket.flush()
        #expect(short.hits == 1 && fault.hits == 1 && socket.queuedBytes == 0)
        #expect(socket.lastSendError == failing.error)
        #expect(socket.counters.sent == 9 && socket.counters.sendErrors == 1)
        let others = Self.payloads[..<3] + Self.payloads[4...]
        #expect(await receive(9, from: received) == Array(others))
      }
    }

    @Test(arguments: [EINVAL, EIO])
    func `datagrams that the system refuses to segment are sent one by one`(
      code: Int32
    ) async throws {
      try await onLoop { loop in
        let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
        let fault = Fault(SC_SENDMMSG, code)
        let payloads = (0..<20).map { [UInt8](repeating: $0, count: 100) }
        for payload in payloads { socket.send(payload, to: socket.localEndpoint) }
        socket.flush()
        #expect(await receive(20, from: received) == payloads)
        #expect(fault.hits == 1 && socket.counters.sent == 20 && socket.counters.sendErrors == 0)
      }
    }

    @Test(arguments: [0, 1])
    func `a datagram for which there is no memory is dropped and counted`(
      skipped: Int
    ) async throws {
      try await onLoop { loop in
        let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
        let fault = Fault(SC_REALLOC, ENOMEM, after: skipped)
        #expect(!socket.send([1], to: socket.localEndpoint))
        #expect(fault.hits == 1 && socket.queuedBytes == 0 && socket.counters.queueDrops == 1)
        #expect(socket.send([2], to: socket.localEndpoint))
        let growth = Fault(SC_REALLOC, ENOMEM)
        #expect(!socket.send([UInt8](repeating: 3, count: 40_000), to: socket.localEndpoint))
        #expect(growth.hits == 1 && socket.queuedBytes == 1 && socket.counters.queueDrops == 2)
        #expect(socket.send([4], to: socket.localEndpoint))
        socket.flush()
        #expect(await receive(2, from: received) == [[2], [4]])
      }
    }

    @Test(arguments: [
      (EINTR, 0), (EAGAIN, 0), (ECONNREFUSED, 1), (EHOSTUNREACH, 1), (ENETDOWN, 1), (ENOMEM, 1),
    ])
    func `no datagram is lost when receiving fails, and errors of the network are counted`(
      code: Int32, counted: Int
    ) async throws {
      try await onLoop { loop in
        let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
        // More failures than the socket tries before it lets other sockets work.
        let fault = Fault(SC_RECVMMSG, code, count: 6)
        for payload in Self.payloads { socket.send(payload, to: socket.localEndpoint) }
        socket.flush()
        #expect(await receive(10, from: received) == Self.payloads)
        #expect(fault.hits == 6 && socket.counters.receiveErrors == 6 * counted)
        #expect(socket.counters.received == 10)
      }
    }

    @Test func `the rest of a batch follows when the system returns a part of it`() async throws {
      try await onLoop { loop in
        let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
        let fault = Fault(SC_RECVMMSG, count: 4, limit: 2)
        for payload in Self.payloads { socket.send(payload, to: socket.localEndpoint) }
        socket.flush()
        #expect(await receive(10, from: received) == Self.payloads)
        #expect(fault.hits == 4)
      }
    }

    @Test func `options that the system refuses throw and leave the socket as it was`() async throws
    {
      try await onLoop { loop in
        let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
        let group = IPAddress.v4(0xE000_00FB)
        let loopback = loopbackIndex()
        func refused(
          _ code: Int32, _ error: TransportError, _ body: () throws(TransportError) -> Void
        ) {
          let fault = Fault(SC_SETSOCKOPT, code)
          #expect(throws: error, performing: body)
          #expect(fault.hits == 1)
          Fault.disarm()
        }
        refused(ENODEV, .noSuchInterface) { () throws(TransportError) in
          try socket.join(group, on: 9999)
        }
        refused(EADDRINUSE, .system(code: EADDRINUSE, operation: "join a group")) {
          () throws(TransportError) in try socket.join(group, on: loopback)
        }
        refused(ENOBUFS, .system(code: ENOBUFS, operation: "join a group")) {
          () throws(TransportError) in try socket.join(group, on: loopback)
        }
        refused(EADDRNOTAVAIL, .system(code: EADDRNOTAVAIL, operation: "leave a group")) {
          () throws(TransportError) in try socket.leave(group, on: loopback)
        }
        refused(EADDRNOTAVAIL, .noSuchInterface) { () throws(TransportError) in
          try socket.setMulticastInterface(loopback)
        }
        refused(ENOMEM, .system(code: ENOMEM, operation: "set multicast loopback")) {
          () throws(TransportError) in try socket.setMulticastLoopback(true)
        }
        refused(EINVAL, .system(code: EINVAL, operation: "set the hop limit")) {
          () throws(TransportError) in try socket.setMulticastHopLimit(1)
        }
        refused(EINVAL, .system(code: EINVAL, operation: "set the hop limit")) {
          () throws(TransportError) in try socket.setHopLimit(1)
        }
        socket.send([1], to: socket.localEndpoint)
        socket.flush()
        #expect(await received.next().payload == [1])
      }
    }

    @Test func `an interface without an IPv4 address is still chosen for multicast`() async throws {
      try await onLoop { loop in
        let socket = try makeSender(on: loop, bind: .any4)
        let fault = Fault(SC_IOCTL, EADDRNOTAVAIL)
        try socket.setMulticastInterface(loopbackIndex())
        #expect(fault.hits == 1)
      }
    }

    @Test func `the sockets bound to a port are unknown if the tables cannot be read`() async throws
    {
      try await onLoop { loop in
        let socket = try makeSender(on: loop, bind: .loopback4)
        let port = socket.localEndpoint.port
        // Two tables are read, each at least twice.
        for skipped in 0..<4 {
          for code in [EMFILE, ENFILE, ENOMEM, EACCES, 0] {
            let fault = Fault(SC_FOPEN, code, after: skipped)
            #expect(UDPSocket.addresses(boundTo: port) == nil, "\(code), \(skipped)")
            #expect(fault.hits == 1)
            Fault.disarm()
          }
        }
        // A system without IPv6 has no table of its sockets: every second file is missing.
        for _ in 0..<SC_FAULTS { Fault(SC_FOPEN, ENOENT, after: 1) }
        #expect(UDPSocket.addresses(boundTo: port) == [.loopback4])
      }
    }
  }
#endif
