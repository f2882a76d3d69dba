import CaromCore
import CaromTransport
import Testing

/// The routing bytes on the datagrams of real sockets.
@Suite struct UDPRoutingTests {
  private static let token: [UInt8] = [0xA1, 0xB2, 0xC3, 0xD4, 0xE5]

  private static func makeOptions(
    sent: DatagramRouting? = nil, received: DatagramRouting? = nil
  ) -> UDPOptions {
    var options = UDPOptions()
    options.sentRouting = sent
    options.receivedRouting = received
    return options
  }

  @Test(arguments: [DatagramRouting.Position.prefix, .suffix], [true, false])
  func `each datagram of a batch carries the bytes, also if the system segments it`(
    position: DatagramRouting.Position, segments: Bool
  ) async throws {
    try await onLoop { loop in
      let routing =
        position == .prefix
        ? try DatagramRouting.prefix(Self.token) : try DatagramRouting.suffix(Self.token)
      let (receiver, received) = try makeReceiver(on: loop, bind: .loopback4)
      var options = Self.makeOptions(sent: routing)
      options.usesSegmentation = segments
      let sender = try UDPSocket(
        on: loop, bind: Endpoint(.loopback4, port: 0), options: options
      ) { _ in }
      var sent: [[UInt8]] = (0..<40).map { [UInt8](repeating: $0, count: 1_200) }
      sent += [[9], [], [UInt8](repeating: 3, count: 700)]
      for datagram in sent { #expect(sender.send(datagram, to: receiver.localEndpoint)) }
      sender.flush()
      for datagram in sent {
        let expected = position == .prefix ? Self.token + datagram : datagram + Self.token
        #expect(await received.next().payload == expected)
      }
      #expect(sender.counters.sent == 43 && sender.counters.sendErrors == 0)
    }
  }

  @Test func `bytes are removed from the datagrams that carry them, and from no others`()
    async throws
  {
    try await onLoop { loop in
      let sender = try makeSender(on: loop, bind: .loopback4)
      for routing in [try DatagramRouting.prefix(Self.token), try .suffix(Self.token)] {
        let (receiver, received) = try makeReceiver(
          on: loop, bind: .loopback4, options: Self.makeOptions(received: routing))
        let plain: [[UInt8]] = [[1, 2, 3], [], Self.token.dropLast(), Self.token.reversed()]
        for datagram in plain {
          sender.send(datagram, to: receiver.localEndpoint)
          sender.send(routing.adding(to: datagram), to: receiver.localEndpoint)
        }
        sender.send(routing.adding(to: routing.adding(to: [4])), to: receiver.localEndpoint)
        sender.flush()
        for datagram in plain {
          #expect(await received.next().payload == datagram)
          #expect(await received.next().payload == datagram)
        }
        #expect(await received.next().payload == routing.adding(to: [4]))
        #expect(receiver.isOpen)
      }
    }
  }

  @Test func `a queue that is full drops a datagram with its bytes`() async throws {
    try await onLoop { loop in
      var options = Self.makeOptions(sent: try .suffix(Self.token))
      options.queueLimit = 1_000
      let sender = try UDPSocket(
        on: loop, bind: Endpoint(.loopback4, port: 0), options: options
      ) { _ in }
      #expect(!sender.send([UInt8](repeating: 1, count: 998), to: sender.localEndpoint))
      #expect(sender.counters.queueDrops == 1 && sender.queuedBytes == 0)
      #expect(sender.send([1], to: sender.localEndpoint) && sender.queuedBytes == 6)
    }
  }
}
