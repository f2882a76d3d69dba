#if os(Linux)
  import CSystemCalls
  import CaromCore
  import Glibc
  import Testing

  @testable import CaromTransport

  /// UDPSocket.flush: datagrams for which there is no room stay queued, as they are.
  @Suite(.timeLimit(.minutes(1))) struct UDPCompactionTests {
    /// A payload that differs from the others in every byte and in its length.
    private static func payload(_ number: Int, length: Int) -> [UInt8] {
      (0..<length + number).map { UInt8(truncatingIfNeeded: number * 31 + $0) }
    }

    /// The system accepts some datagrams of a batch and then has no room. More datagrams are queued
    /// than the queue has memory for, so the rest of the batch moves within it: because of the
    /// number of datagrams, or of their bytes.
    @Test(arguments: [
      Case(first: 64, part: 10, length: 20), Case(first: 64, part: 1, length: 20),
      Case(first: 64, part: 63, length: 20), Case(first: 30, part: 10, length: 1_000),
      Case(first: 30, part: 29, length: 1_000),
    ])
    func `datagrams that wait are sent as they were queued, however many follow`(
      example: Case
    ) async throws {
      try await onLoop { loop in
        var options = UDPOptions()
        options.usesSegmentation = false
        let (receiver, received) = try makeReceiver(on: loop, bind: .loopback4)
        let sender = try UDPSocket(
          on: loop, bind: Endpoint(.loopback4, port: 0), options: options
        ) { _ in }
        let payloads = (0..<example.first + 30).map { Self.payload($0, length: example.length) }
        let short = Fault(SC_SENDMMSG, limit: example.part)
        let full = Fault(SC_SENDMMSG, EAGAIN)
        for payload in payloads[..<example.first] {
          sender.send(payload, to: receiver.localEndpoint)
        }
        sender.flush()
        #expect(short.hits == 1 && full.hits == 1)
        #expect(sender.counters.sent == UInt64(example.part))
        for payload in payloads[example.first...] {
          #expect(sender.send(payload, to: receiver.localEndpoint))
        }
        let waiting = payloads[example.part...].reduce(0) { $0 + $1.count }
        #expect(sender.queuedBytes == waiting)
        for payload in payloads { #expect(await received.next().payload == payload) }
        #expect(sender.counters.sent == UInt64(payloads.count) && sender.counters.blocked == 1)
        #expect(sender.queuedBytes == 0 && receiver.isOpen)
      }
    }

    /// The system accepts `part` of the `first` datagrams.
    struct Case: Sendable {
      let first: Int
      let part: Int
      let length: Int
    }
  }
#endif
