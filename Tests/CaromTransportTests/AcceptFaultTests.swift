#if os(Linux)
  import CSystemCalls
  import CaromCore
  import Glibc
  import TestClock
  import Testing

  @testable import CaromTransport

  /// Tests of what a listener does when accepting fails.
  @Suite(.timeLimit(.minutes(1))) struct AcceptFaultTests {
    private typealias Listening = (listener: TCPListener, events: Events<TCPListener.Event>)

    private func listen(on loop: NetworkLoop) throws -> Listening {
      let events = Events<TCPListener.Event>()
      let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) {
        events.add($0)
      }
      return (listener, events)
    }

    private func accepted(_ event: TCPListener.Event) -> TCPStream? {
      if case .accepted(let stream) = event { stream } else { nil }
    }

    private static let shortages = [
      FailingCall("accept4", SC_ACCEPT, EMFILE, .outOfDescriptors),
      FailingCall("accept4", SC_ACCEPT, ENFILE, .outOfDescriptors),
      FailingCall("accept4", SC_ACCEPT, ENOBUFS, .system(code: ENOBUFS, operation: "accept")),
      FailingCall("accept4", SC_ACCEPT, ENOMEM, .system(code: ENOMEM, operation: "accept")),
    ]

    @Test(arguments: shortages)
    func `a listener without resources pauses and accepts the waiting peer after the interval`(
      failing: FailingCall
    ) async throws {
      try await onLoop { loop in
        let (listener, events) = try listen(on: loop)
        let fault = failing.arm()
        let start = loop.now
        let peer = PlainPeer(port: listener.localEndpoint.port)
        guard case .paused(let error) = await events.next() else {
          Issue.record("not paused")
          return
        }
        #expect(error == failing.error && fault.hits == 1)
        #expect(listener.isPaused && listener.pauseCount == 1 && listener.acceptedCount == 0)
        guard case .resumed = await events.next() else {
          Issue.record("not resumed")
          return
        }
        #expect(loop.now - start >= TCPListener.retryInterval)
        #expect(accepted(await events.next()) != nil && !listener.isPaused)
        #expect(listener.pauseCount == 1 && listener.acceptedCount == 1)
        #expect(listener.lostCount == 0 && peer.descriptor >= 0)
      }
    }

    @Test func `a lasting shortage is reported once, and a closed stream ends it`() async throws {
      try await onLoop { loop in
        let (listener, events) = try listen(on: loop)
        let pairs = [try await makePair(on: loop), try await makePair(on: loop)]
        let fault = Fault(SC_ACCEPT, EMFILE, count: 2)
        let peer = PlainPeer(port: listener.localEndpoint.port)
        guard case .paused = await events.next() else {
          Issue.record("not paused")
          return
        }
        for pair in pairs {
          pair.client.reset()
          for _ in 0..<3 { try await loop.sleep(until: loop.now) }
        }
        guard case .resumed = await events.next() else {
          Issue.record("not resumed")
          return
        }
        #expect(accepted(await events.next()) != nil && fault.hits == 2)
        #expect(listener.pauseCount == 1 && peer.descriptor >= 0)
      }
    }

    @Test func `a listener that its owner stopped accepts no peer after a shortage either`()
      async throws
    {
      try await onLoop { loop in
        let (listener, events) = try listen(on: loop)
        let clock = StoppedClock(of: loop)
        let fault = Fault(SC_ACCEPT, EMFILE)
        let peer = PlainPeer(port: listener.localEndpoint.port)
        guard case .paused = await events.next() else {
          Issue.record("not paused")
          return
        }
        listener.setAccepting(false)
        try await clock.advance(by: TCPListener.retryInterval)
        try await pass(on: loop)
        #expect(events.count == 0 && listener.acceptedCount == 0 && fault.hits == 1)
        listener.setAccepting(true)
        guard case .resumed = await events.next() else {
          Issue.record("not resumed")
          return
        }
        #expect(accepted(await events.next()) != nil && peer.descriptor >= 0)
      }
    }

    @Test(arguments: [
      (EINTR, 0), (EAGAIN, 0), (ECONNABORTED, 1), (EPROTO, 1), (EPERM, 1), (ENETDOWN, 1),
      (EHOSTUNREACH, 1), (ETIMEDOUT, 1),
    ])
    func `a connection that breaks before it is accepted is counted, and the next is accepted`(
      code: Int32, lost: Int
    ) async throws {
      try await onLoop { loop in
        let (listener, events) = try listen(on: loop)
        let fault = Fault(SC_ACCEPT, code)
        let peer = PlainPeer(port: listener.localEndpoint.port)
        let stream = try #require(accepted(await events.next()))
        #expect(stream.isOpen && fault.hits == 1 && events.count == 0)
        #expect(listener.lostCount == lost && listener.pauseCount == 0 && listener.isOpen)
        #expect(listener.acceptedCount == 1 && peer.descriptor >= 0)
      }
    }

    @Test(arguments: [
      FailingCall("calloc", SC_CALLOC, ENOMEM, .closed),
      FailingCall("epoll_ctl", SC_EPOLL_CTL, ENOSPC, .closed, detail: Missing.epollAdd),
      FailingCall("getsockname", SC_GETSOCKNAME, ENOBUFS, .closed),
    ])
    func `a connection for which no stream can be made is closed and counted`(
      failing: FailingCall
    ) async throws {
      try await onLoop { loop in
        let (listener, events) = try listen(on: loop)
        try await loop.sleep(until: loop.now)
        let port = listener.localEndpoint.port
        let (lost, next) = (PlainPeer(port: port), PlainPeer(port: port))
        let before = Fault.descriptors
        let fault = failing.arm()
        let stream = try #require(accepted(await events.next()))
        #expect(fault.hits == 1 && listener.lostCount == 1 && listener.acceptedCount == 1)
        #expect(Fault.descriptors == before + 1 && lost.isAtEnd())
        stream.close()
        #expect(next.isAtEnd())
      }
    }

    @Test func `a listener without descriptors does not pause if no peer waits`() async throws {
      try await onLoop { loop in
        let (listener, events) = try listen(on: loop)
        // The second call finds that no further peer waits.
        let fault = Fault(SC_ACCEPT, EMFILE, after: 1)
        let peer = PlainPeer(port: listener.localEndpoint.port)
        #expect(accepted(await events.next()) != nil)
        try await loop.sleep(until: loop.now)
        #expect(fault.hits == 1 && listener.pauseCount == 0 && events.count == 0)
        #expect(peer.descriptor >= 0)
      }
    }

    @Test func `a peer is accepted though the check whether it waits was interrupted`()
      async throws
    {
      try await onLoop { loop in
        let (listener, events) = try listen(on: loop)
        let fault = Fault(SC_ACCEPT, EMFILE)
        let interrupted = Fault(SC_POLL, EINTR)
        let peer = PlainPeer(port: listener.localEndpoint.port)
        #expect(accepted(await events.next()) != nil && listener.pauseCount == 0)
        #expect(fault.hits == 1 && interrupted.hits == 1 && peer.descriptor >= 0)
      }
    }
  }
#endif
