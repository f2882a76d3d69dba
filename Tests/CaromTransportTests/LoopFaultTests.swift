#if os(Linux)
  import CSystemCalls
  import CUVLoop
  import CaromCore
  import Foundation
  import Testing

  @testable import CaromTransport

  /// Tests of a loop whose own system calls fail.
  @Suite(.timeLimit(.minutes(1))) struct LoopFaultTests {
    @Test func `a loop that cannot be created throws and leaves no descriptor`() async {
      await #expect(processExitsWith: .success) {
        func other(_ code: Int32, _ operation: StaticText = "open a loop") -> TransportError {
          .system(code: code, operation: operation)
        }
        let steps = [
          FailingCall("epoll_create1", SC_EPOLL_CREATE, EMFILE, .outOfDescriptors),
          FailingCall("epoll_create1", SC_EPOLL_CREATE, ENFILE, .outOfDescriptors),
          FailingCall("epoll_create1", SC_EPOLL_CREATE, ENOMEM, other(ENOMEM)),
          FailingCall("pipe2", SC_PIPE, EMFILE, .outOfDescriptors),
          FailingCall("eventfd", SC_EVENTFD, EMFILE, .outOfDescriptors),
          FailingCall("calloc", SC_CALLOC, ENOMEM, other(ENOMEM), limit: 1 << 16),
          FailingCall("timerfd_create", SC_TIMERFD_CREATE, EMFILE, .outOfDescriptors),
          FailingCall(
            "epoll_ctl", SC_EPOLL_CTL, ENOSPC, other(ENOSPC, "open a timer"),
            detail: Missing.epollAdd),
          FailingCall(
            "pthread_create", SC_PTHREAD_CREATE, EAGAIN, other(EAGAIN, "start a thread")),
        ]
        try await onLoop { _ in }  // libuv opens a pipe for the whole process
        for step in steps {
          let before = usedDescriptors()
          for _ in 0..<rounds { meet(step) }
          let after = usedDescriptors()
          precondition(after < before + rounds, "\(step.testDescription): \(before), \(after)")
        }
        try await onLoop { loop in try await loop.sleep(until: loop.now) }
      }
    }

    @Test func `a thread for which there is no memory is an error`() {
      for skipped in 0..<2 {
        var thread: OpaquePointer?
        let fault = Fault(SC_CALLOC, ENOMEM, after: skipped)
        let status = unsafe cuv_thread_start(
          "none", UnsafeMutableRawPointer(bitPattern: 1)!, { _ in }, &thread)
        #expect(status == -ENOMEM && fault.hits == 1)
        Fault.disarm()
      }
    }

    @Test func `an interrupted wait of the loop goes on`() async throws {
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        let server = pair.server.watch()
        let fault = Fault(SC_EPOLL_WAIT, EINTR, count: 3)
        try pair.client.write([1])
        #expect(await server.next() == .bytes([1]))
        try await loop.sleep(until: loop.now + .microseconds(100))
        #expect(fault.hits == 3)
      }
    }

    @Test(arguments: [EINTR, EAGAIN])
    func `a system timer that cannot be read at once expires all the same`(
      code: Int32
    ) async throws {
      try await onLoop { loop in
        let expirations = Events<Void>()
        let core = loop.core
        var timer: OpaquePointer?
        let context = unsafe Unmanaged.passUnretained(expirations).toOpaque()
        let status = unsafe cuv_timer_create(
          core.handle!, context,
          { unsafe Unmanaged<Events<Void>>.fromOpaque($0).takeUnretainedValue().add(()) }, &timer)
        #expect(status == 0)
        let fault = Fault(SC_READ, code, count: 2, on: sc_last_descriptor())
        #expect(unsafe cuv_timer_arm(timer!, 1) == 0)
        await expirations.next()
        #expect(fault.hits == 2 && expirations.count == 0)
        Fault(SC_TIMERFD_SETTIME, EINVAL)
        #expect(unsafe cuv_timer_arm(timer!, 1) == -EINVAL)
        unsafe cuv_timer_destroy(timer!)
      }
    }

    @Test(arguments: [
      (EAI_AGAIN, Int32(0), TransportError.nameServiceFailed("")),
      (EAI_FAIL, 0, .nameServiceFailed("")),
      (EAI_MEMORY, 0, .nameServiceFailed("")), (EAI_FAMILY, 0, .nameServiceFailed("")),
      (EAI_SYSTEM, EMFILE, .nameServiceFailed("")), (EAI_NONAME, 0, .unknownHost("")),
      (Missing.noData, 0, .unknownHost("")), (Missing.noFamily, 0, .unknownHost("")),
      (0, 0, .unknownHost("")),
    ])
    func `a lookup that fails says whether the name or the name service is to blame`(
      answer: Int32, code: Int32, error: TransportError
    ) async {
      await withNetworkLoop { loop in
        let host = "answer\(-answer).test"
        unsafe sc_fail_lookup(host, answer, code)
        let expected: TransportError =
          if case .unknownHost = error { .unknownHost(host) } else { .nameServiceFailed(host) }
        await #expect(throws: expected) { _ = try await loop.lookup(host: host) }
      }
    }

    @Test func `a lookup for which there is no memory does not call the name unknown`()
      async throws
    {
      try await onLoop { loop in
        let fault = Fault(SC_CALLOC, ENOMEM)
        await #expect(throws: TransportError.system(code: ENOMEM, operation: "look up a host")) {
          _ = try await loop.lookup(host: "localhost")
        }
        #expect(fault.hits == 1)
        let addresses = try await loop.lookup(host: "localhost")
        #expect(!addresses.isEmpty)
      }
    }
  }

  /// The Swift runtime may open descriptors meanwhile, but far fewer.
  private let rounds = 50

  /// Fails to create a loop because of a step.
  private func meet(_ step: FailingCall) {
    let fault = step.arm()
    do throws(TransportError) {
      _ = try NetworkLoop()
      fatalError("\(step.testDescription): a loop was created")
    } catch {
      precondition(error == step.error, "\(step.testDescription): \(error)")
    }
    precondition(fault.hits == 1, "\(step.testDescription): \(fault.hits)")
    Fault.disarm()
  }

  private func usedDescriptors() -> Int { (0..<1024).count { fcntl($0, F_GETFD) >= 0 } }
#endif
