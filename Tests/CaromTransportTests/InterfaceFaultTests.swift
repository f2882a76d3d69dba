#if os(Linux)
  import CSystemCalls
  import CUVLoop
  import CaromCore
  import Glibc
  import Testing

  @testable import CaromTransport

  /// Tests of listing and watching the interfaces when the system's answers fail.
  @Suite(.timeLimit(.minutes(1))) struct InterfaceFaultTests {
    private static func other(_ code: Int32) -> TransportError {
      .system(code: code, operation: "list the interfaces")
    }

    private func names() throws -> [String] { try Interfaces.list().map(\.name) }

    /// The bytes of a value as it is in memory.
    private static func bytes<Value: BitwiseCopyable>(_ value: Value) -> [UInt8] {
      unsafe withUnsafeBytes(of: value) { unsafe Array($0) }
    }

    @Test(
      arguments: [
        FailingCall("socket", SC_SOCKET, EMFILE, .outOfDescriptors),
        FailingCall("socket", SC_SOCKET, ENFILE, .outOfDescriptors),
        FailingCall("socket", SC_SOCKET, EPERM, .permissionDenied),
        FailingCall("socket", SC_SOCKET, ENOBUFS, other(ENOBUFS)),
      ]
        + (0..<2).flatMap { skipped in
          [
            FailingCall("sendto", SC_SENDTO, ENOBUFS, other(ENOBUFS), after: skipped),
            FailingCall("sendto", SC_SENDTO, EPERM, .permissionDenied, after: skipped),
            FailingCall(
              "malloc", SC_MALLOC, ENOMEM, other(ENOMEM), after: skipped, limit: 1 << 16),
          ]
        }
        + (0..<3).flatMap { skipped in
          [
            FailingCall("recv", SC_RECV, ENOBUFS, other(ENOBUFS), after: skipped),
            FailingCall("recv", SC_RECV, ENOMEM, other(ENOMEM), after: skipped),
          ]
        })
    func `a list that cannot be read throws and leaves nothing open`(
      failing: FailingCall
    ) throws {
      let (before, expected) = (Fault.descriptors, try names())
      let fault = failing.arm()
      defer { Fault.disarm() }
      #expect(throws: failing.error) { try Interfaces.list() }
      #expect(fault.hits == 1 && Fault.descriptors == before)
      #expect(try names() == expected)
    }

    @Test(arguments: [SC_SENDTO, SC_RECV])
    func `a list is complete though requests and answers were interrupted`(
      call: sc_call
    ) throws {
      let expected = try names()
      let fault = Fault(call, EINTR, count: 3)
      defer { Fault.disarm() }
      #expect(try names() == expected)
      #expect(fault.hits == 3)
    }

    @Test func `an error in the system's answer is thrown`() throws {
      let fault = Fault(
        receiving: Self.bytes(
          SIMD8<Int32>(36, Int32(Missing.netlinkError), 0, 0, -EPERM, 0, 0, 0)), at: 0)
      defer { Fault.disarm() }
      #expect(throws: TransportError.permissionDenied) { try Interfaces.list() }
      #expect(fault.hits == 1)
    }

    @Test(arguments: [0, 15, 16, 31, 1 << 20, UInt32.max])
    func `an answer that is cut off or too short throws in place of a part of the list`(
      length: UInt32
    ) throws {
      let fault = Fault(receiving: Self.bytes(length), at: 0)
      defer { Fault.disarm() }
      #expect(throws: Self.other(EBADMSG)) { try Interfaces.list() }
      #expect(fault.hits == 1)
    }

    @Test func `a table that changed while it was read is read again`() throws {
      let expected = try names()
      // The flag stands at the sixth byte of the first message.
      let changed = Fault(receiving: Self.bytes(UInt16(0x12)), at: 6, count: 2)
      defer { Fault.disarm() }
      #expect(try names() == expected)
      #expect(changed.hits == 2)
    }

    @Test func `a table that changes all the time is listed as it was read last`() throws {
      let expected = try names()
      let changed = Fault(receiving: Self.bytes(UInt16(0x12)), at: 6, count: 1000)
      defer { Fault.disarm() }
      #expect(try names() == expected)
      #expect((16...200).contains(changed.hits))
    }

    @Test(.enabled(if: OwnNetwork.isPossible, "needs root and iproute2"))
    func `a monitor reports a change when the system has lost messages`() async throws {
      try await onLoop { loop in
        guard OwnNetwork.enter() else { return }
        let changes = Events<Void>()
        var monitor: OpaquePointer?
        let core = loop.core
        let context = unsafe Unmanaged.passUnretained(changes).toOpaque()
        let status = unsafe cuv_monitor_create(
          core.handle!, context,
          { unsafe Unmanaged<Events<Void>>.fromOpaque($0).takeUnretainedValue().add(()) },
          &monitor)
        #expect(status == 0)
        // The first turn learns of the loss alone, the second one reads the messages.
        let interrupted = Fault(SC_RECV, EINTR)
        let lost = Fault(SC_RECV, ENOBUFS)
        let none = Fault(SC_RECV, EAGAIN)
        OwnNetwork.ip("link set lo up")
        await changes.next()
        #expect(interrupted.hits == 1 && lost.hits == 1 && none.hits == 1)
        await changes.next()
        // A message whose header is cut off tells nothing, and does no harm.
        let short = Fault(SC_RECV, limit: 8)
        OwnNetwork.ip("link set lo down", "link set lo up")
        while short.hits == 0 { await changes.next() }
        unsafe cuv_monitor_destroy(monitor!)
      }
    }
  }
#endif
