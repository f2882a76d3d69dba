import CaromCore
import Testing

@testable import CaromTransport

/// The promises of `UDPSocket` about its options, queue and counters.
@Suite(.timeLimit(.minutes(1))) struct UDPPromiseTests {
  @Test func `the counters are exact, and those of a closed socket stay`() async throws {
    try await onLoop { loop in
      let (receiver, received) = try makeReceiver(on: loop, bind: .loopback4)
      let sender = try makeSender(on: loop, bind: .loopback4)
      #expect(sender.counters == UDPCounters() && sender.lastSendError == nil)
      for length in [1, 20, 0, 300] {
        sender.send([UInt8](repeating: 1, count: length), to: receiver.localEndpoint)
      }
      #expect(sender.queuedBytes == 321 && sender.counters.sent == 0)
      sender.flush()
      for _ in 0..<4 { _ = await received.next() }
      var sent = UDPCounters()
      (sent.sent, sent.sentBytes) = (4, 321)
      var heard = UDPCounters()
      (heard.received, heard.receivedBytes) = (4, 321)
      for _ in 0..<2 {
        #expect(sender.counters == sent && receiver.counters == heard)
        #expect(sender.queuedBytes == 0)
        sender.close()
        receiver.close()
      }
    }
  }

  @Test func `queued datagrams are discarded when their socket is closed`() async throws {
    try await onLoop { loop in
      let (receiver, received) = try makeReceiver(on: loop, bind: .loopback4)
      let sender = try makeSender(on: loop, bind: .loopback4)
      sender.send([1], to: receiver.localEndpoint)
      sender.close()
      sender.flush()
      #expect(sender.queuedBytes == 0 && sender.counters.sent == 0)
      try await pass(on: loop)
      #expect(received.count == 0 && receiver.isOpen)
    }
  }

  @Test(arguments: [IPAddress.loopback4, .loopback6])
  func `a socket that receives no packet information still knows the sender`(address: IPAddress)
    async throws
  {
    try await onLoop { loop in
      var options = UDPOptions()
      options.receivesPacketInfo = false
      let (receiver, received) = try makeReceiver(on: loop, bind: address, options: options)
      let sender = try makeSender(on: loop, bind: address)
      sender.send([1, 2], to: receiver.localEndpoint)
      sender.flush()
      let datagram = await received.next()
      #expect(datagram.payload == [1, 2] && datagram.source == sender.localEndpoint)
      #expect(datagram.interface == 0 && datagram.hopLimit == nil)
      #expect(datagram.destination.port == receiver.localEndpoint.port)
    }
  }

  @Test func `sockets share a port by reusePort only if all of them want to`() async throws {
    try await onLoop { loop in
      var sharing = UDPOptions()
      sharing.reusePort = true
      let first = try UDPSocket(
        on: loop, bind: Endpoint(.loopback4, port: 0), options: sharing
      ) { _ in }
      let local = first.localEndpoint
      #expect(throws: TransportError.addressInUse(port: local.port)) {
        _ = try UDPSocket(on: loop, bind: local) { _ in }
      }
      let second = try UDPSocket(on: loop, bind: local, options: sharing) { _ in }
      #expect(second.localEndpoint == local && first.isOpen)
    }
  }

  @Test func `an IPv6 socket for IPv6 alone leaves the port to IPv4`() async throws {
    try await onLoop { loop in
      // Another test may have taken the port for IPv4.
      let isFree = (0..<10).contains { _ in
        guard let six = try? makeSender(on: loop, bind: .any6) else { return false }
        let four = Endpoint(.any4, port: six.localEndpoint.port)
        return (try? UDPSocket(on: loop, bind: four, { _ in })) != nil
      }
      #expect(isFree)
      var options = UDPOptions()
      #expect(options.v6Only)
      options.v6Only = false
      let both = try UDPSocket(on: loop, bind: Endpoint(.any6, port: 0), options: options) { _ in }
      #expect(throws: TransportError.addressInUse(port: both.localEndpoint.port)) {
        _ = try UDPSocket(on: loop, bind: Endpoint(.any4, port: both.localEndpoint.port)) { _ in }
      }
    }
  }

  @Test(arguments: [
    [9, 4, 9], [9, 4, 4], [5, 3, 3, 2], [7, 7, 3, 3, 7, 7, 7], [1, 2, 3], [8, 0, 8], [0, 0, 1],
    [1472, 1472, 1], [1473, 1473], [6, 6, 6, 6, 5, 6],
  ])
  func `datagrams of any lengths to one peer arrive as they were sent`(lengths: [Int]) async throws
  {
    try await onLoop { loop in
      let (receiver, received) = try makeReceiver(on: loop, bind: .loopback4)
      let sender = try makeSender(on: loop, bind: .loopback4)
      let payloads = lengths.enumerated().map { [UInt8](repeating: UInt8($0), count: $1) }
      for payload in payloads { sender.send(payload, to: receiver.localEndpoint) }
      sender.flush()
      for payload in payloads { #expect(await received.next().payload == payload) }
      #expect(sender.counters.sent == UInt64(lengths.count) && receiver.isOpen)
    }
  }

  @Test func `a batch has 1 to 64 datagrams`() async throws {
    try await onLoop { loop in
      #expect(UDPSocket.batchSize == 64)
      let counts = Events<Int>()
      let socket = try UDPSocket(on: loop, bind: Endpoint(.loopback4, port: 0)) { batch in
        #expect(batch.indices == 0..<batch.count)
        counts.add(batch.count)
      }
      for value in UInt8(0)..<130 { socket.send([value, value], to: socket.localEndpoint) }
      socket.flush()
      var all: [Int] = []
      while all.reduce(0, +) < 130 { all.append(await counts.next()) }
      #expect(all == [64, 64, 2])
    }
  }

  @Test func `datagrams of the largest length that is received are whole`() async throws {
    try await onLoop { loop in
      let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
      #expect(UDPOptions().largestDatagram == 2048 && UDPOptions().queueLimit == 1 << 20)
      for length in [2048, 2049] {
        socket.send([UInt8](repeating: 7, count: length), to: socket.localEndpoint)
      }
      socket.flush()
      #expect(await received.next().payload.count == 2048)
      #expect(await received.next().payload.count == 2048)
      #expect(socket.counters.truncated == 1 && socket.counters.received == 2)
    }
  }

  @Test func `a socket that receives all groups gets the datagrams of a group it has not joined`()
    async throws
  {
    try await onLoop { loop in
      var options = UDPOptions()
      options.reuseAddress = true
      let (member, heard) = try makeReceiver(on: loop, bind: .any4, options: options)
      options.receivesAllGroups = true
      let (other, overheard) = try makeReceiver(
        on: loop, bind: .any4, port: member.localEndpoint.port, options: options)
      try member.join(MulticastTests.group, on: loopbackIndex())
      let sender = try makeSender(on: loop, bind: .loopback4)
      try sender.setMulticastInterface(loopbackIndex())
      sender.send([5], to: Endpoint(MulticastTests.group, port: member.localEndpoint.port))
      sender.flush()
      #expect(await heard.next().payload == [5])
      #expect(await overheard.next().payload == [5])
      #expect(other.isOpen)
    }
  }

  @Test func `hop limits of unicast and multicast are independent`() async throws {
    try await onLoop { loop in
      let (member, heard) = try makeReceiver(on: loop, bind: .any4)
      try member.join(MulticastTests.group, on: loopbackIndex())
      let port = member.localEndpoint.port
      let sender = try makeSender(on: loop, bind: .loopback4)
      try sender.setMulticastInterface(loopbackIndex())
      for (unicast, multicast) in [(3, 200), (255, 1)] as [(UInt8, UInt8)] {
        try sender.setHopLimit(unicast)
        try sender.setMulticastHopLimit(multicast)
        sender.send([1], to: Endpoint(.loopback4, port: port))
        sender.flush()
        #expect(await heard.next().hopLimit == unicast)
        sender.send([2], to: Endpoint(MulticastTests.group, port: port))
        sender.flush()
        #expect(await heard.next().hopLimit == multicast)
      }
    }
  }
}
