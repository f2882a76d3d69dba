#if os(Linux)
  import CaromCore
  import Foundation
  import Testing

  @testable import CaromTransport

  /// Tests of segmentation, each in a network namespace of its own, so that no other socket changes
  /// the kernel's counters.
  @Suite(
    .timeLimit(.minutes(1)), .enabled(if: OwnNetwork.isPossible, "needs root and iproute2"))
  struct SegmentationTests {
    /// The number of messages that the kernel has sent in the thread's namespace. A run that the
    /// kernel segments counts as one message.
    private func sentMessages() throws -> Int? {
      let text = try String(contentsOfFile: "/proc/thread-self/net/snmp", encoding: .utf8)
      let lines = text.split(separator: "\n").filter { $0.hasPrefix("Udp:") }
      let columns = lines.map { $0.split(separator: " ") }
      guard columns.count == 2 else { return nil }
      return zip(columns[0], columns[1]).first { $0.0 == "OutDatagrams" }.flatMap { Int($0.1) }
    }

    @Test func `a run of datagrams is one message, also after a run without a route was rejected`()
      async throws
    {
      try await onLoop { loop in
        guard OwnNetwork.enter() else { return }
        OwnNetwork.ip("link set lo up")
        let (receiver, received) = try makeReceiver(on: loop, bind: .loopback4)
        let sender = try makeSender(on: loop, bind: .any4)
        for _ in 0..<2 { sender.send([0, 0], to: Endpoint(.v4(0x0A09_0909), port: 9)) }
        sender.flush()
        #expect(sender.counters.sendErrors == 2 && sender.lastSendError == .unreachable)
        let before = try #require(try sentMessages())
        for value in UInt8(1)...8 { sender.send([value, value], to: receiver.localEndpoint) }
        sender.flush()
        #expect(try sentMessages() == before + 1)
        for value in UInt8(1)...8 { #expect(await received.next().payload == [value, value]) }
        #expect(receiver.isOpen)
      }
    }

    @Test func `of a run that is rejected as too long, the datagrams that fit are sent`()
      async throws
    {
      try await onLoop { loop in
        guard OwnNetwork.enter() else { return }
        OwnNetwork.ip("link set lo mtu 1280 up")
        let (receiver, received) = try makeReceiver(on: loop, bind: .loopback4)
        var options = UDPOptions()
        options.probesMTU = true
        let sender = try UDPSocket(
          on: loop, bind: Endpoint(.any4, port: 0), options: options
        ) { _ in }
        for length in [1400, 1400, 10, 10] {
          sender.send([UInt8](repeating: 1, count: length), to: receiver.localEndpoint)
        }
        sender.flush()
        #expect(sender.counters.sendErrors == 2 && sender.lastSendError == .messageTooLarge)
        for _ in 0..<2 { #expect(await received.next().payload.count == 10) }
        #expect(receiver.isOpen)
      }
    }
  }
#endif
