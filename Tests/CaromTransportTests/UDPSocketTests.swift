import CaromCore
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct UDPSocketTests {
  @Test func `a datagram has its source, destination, interface and hop limit`() async throws {
    try await onLoop { loop in
      let (socket, received) = try makeReceiver(on: loop, bind: .any4)
      let sender = try makeSender(on: loop, bind: .v4(0x7F00_0002))
      try sender.setHopLimit(7)
      let target = Endpoint(.v4(0x7F00_0003), port: socket.localEndpoint.port)
      #expect(sender.send([9, 8], to: target))
      sender.flush()
      let datagram = await received.next()
      #expect(datagram.payload == [9, 8])
      #expect(datagram.source == sender.localEndpoint)
      #expect(datagram.destination == target)
      #expect(datagram.hopLimit == 7)
      #expect(datagram.interface == loopbackIndex() && socket.isOpen)
    }
  }

  @Test func `an IPv6 datagram has its source, destination, interface and hop limit`() async throws
  {
    try await onLoop { loop in
      let (socket, received) = try makeReceiver(on: loop, bind: .any6)
      let sender = try makeSender(on: loop, bind: .loopback6)
      try sender.setHopLimit(9)
      let target = Endpoint(.loopback6, port: socket.localEndpoint.port)
      sender.send([], to: target)
      sender.send([1], to: target, interface: loopbackIndex())
      sender.flush()
      #expect(await received.next().payload == [])
      let datagram = await received.next()
      #expect(datagram.source == sender.localEndpoint && datagram.destination == target)
      #expect(datagram.hopLimit == 9 && datagram.interface == loopbackIndex())
      #expect(socket.isOpen)
    }
  }

  @Test func `a dual-stack socket reports IPv4 peers with IPv4 addresses`() async throws {
    try await onLoop { loop in
      var options = UDPOptions()
      options.v6Only = false
      let (socket, received) = try makeReceiver(on: loop, bind: .any6, options: options)
      let (sender, answers) = try makeReceiver(on: loop, bind: .loopback4)
      let target = Endpoint(.loopback4, port: socket.localEndpoint.port)
      sender.send([1], to: target)
      sender.flush()
      let datagram = await received.next()
      #expect(datagram.source == sender.localEndpoint && datagram.destination == target)
      #expect(datagram.hopLimit == 64)
      socket.send([2], to: datagram.source)
      socket.flush()
      #expect(await answers.next().source == target)
      #expect(sender.isOpen)
    }
  }

  @Test func `datagrams that are sent together are received in batches and in order`() async throws
  {
    try await onLoop { loop in
      let batches = Events<[[UInt8]]>()
      let socket = try UDPSocket(on: loop, bind: Endpoint(.loopback4, port: 0)) { batch in
        var copies: [[UInt8]] = []
        for index in batch.indices { copies.append(Array(copying: batch[index].payload)) }
        batches.add(copies)
      }
      let sender = try makeSender(on: loop, bind: .loopback4)
      for value in UInt8(0)..<200 {
        sender.send([value, value], to: socket.localEndpoint)
      }
      #expect(sender.queuedBytes == 400)
      sender.flush()
      #expect(sender.queuedBytes == 0 && sender.counters.sent == 200)
      var all: [[UInt8]] = []
      while all.count < 200 { all += await batches.next() }
      #expect(all == (UInt8(0)..<200).map { [$0, $0] })
      #expect(socket.counters.received == 200 && socket.counters.receivedBytes == 400)
    }
  }

  @Test(arguments: [true, false])
  func `runs of datagrams are received as they were sent, with and without segmentation`(
    segments: Bool
  ) async throws {
    try await onLoop { loop in
      var options = UDPOptions()
      options.usesSegmentation = segments
      let (first, firstSeen) = try makeReceiver(on: loop, bind: .loopback4)
      let (second, secondSeen) = try makeReceiver(on: loop, bind: .loopback4)
      let sender = try UDPSocket(
        on: loop, bind: Endpoint(.loopback4, port: 0), options: options
      ) { _ in }
      let lengths = [9, 9, 9, 4, 4, 9, 0, 9, 1232, 1232, 1500, 1500, 1, 2]
      for (index, length) in lengths.enumerated() {
        let payload = [UInt8](repeating: UInt8(index), count: length)
        sender.send(payload, to: first.localEndpoint)
        if index % 3 == 0 { sender.send(payload, to: second.localEndpoint) }
      }
      sender.flush()
      for (index, length) in lengths.enumerated() {
        let payload = [UInt8](repeating: UInt8(index), count: length)
        #expect(await firstSeen.next().payload == payload)
        if index % 3 == 0 { #expect(await secondSeen.next().payload == payload) }
      }
      #expect(sender.counters.sent == 19 && sender.counters.sendErrors == 0)
      #expect(first.isOpen && second.isOpen)
    }
  }

  @Test func `a datagram over the limit is truncated, marked and counted`() async throws {
    try await onLoop { loop in
      var options = UDPOptions()
      options.largestDatagram = 4
      let marks = Events<(Int, Bool)>()
      let socket = try UDPSocket(
        on: loop, bind: Endpoint(.loopback4, port: 0), options: options
      ) { batch in
        for index in batch.indices {
          marks.add((batch[index].payload.count, batch[index].isTruncated))
        }
      }
      socket.send([1, 2, 3, 4], to: socket.localEndpoint)
      socket.send([1, 2, 3, 4, 5], to: socket.localEndpoint)
      socket.flush()
      #expect(await marks.next() == (4, false))
      #expect(await marks.next() == (4, true))
      #expect(socket.counters.truncated == 1)
    }
  }

  @Test func `a full queue drops and counts new datagrams`() async throws {
    try await onLoop { loop in
      var options = UDPOptions()
      options.queueLimit = 1000
      let (socket, received) = try makeReceiver(on: loop, bind: .loopback4, options: options)
      var taken: [UInt8] = []
      for value in UInt8(0)..<100 where socket.send([value], to: socket.localEndpoint) {
        taken.append(value)
      }
      #expect(!taken.isEmpty && taken.count < 100 && taken == Array(0..<UInt8(taken.count)))
      #expect(socket.counters.queueDrops == UInt64(100 - taken.count))
      socket.flush()
      for value in taken { #expect(await received.next().payload == [value]) }
      #expect(socket.send([1], to: socket.localEndpoint))
    }
  }

  @Test func `a missing peer and a rejected datagram do not break the socket`() async throws {
    try await onLoop { loop in
      let (socket, received) = try makeReceiver(on: loop, bind: .loopback4)
      // No test listens at this address. A port that was freed could be taken by another test.
      let nobody = Endpoint(IPAddress("127.77.0.6")!, port: 9)
      for _ in 0..<3 {
        socket.send([1], to: nobody)
        socket.flush()
        try await pass(on: loop)
      }
      socket.send([2], to: Endpoint(.v4(0xFFFF_FFFF), port: 9))  // broadcast is not allowed
      socket.send([UInt8](repeating: 0, count: 65_600), to: socket.localEndpoint)
      socket.send([3], to: socket.localEndpoint)
      socket.flush()
      #expect(await received.next().payload == [3])
      #expect(socket.counters.sendErrors == 2)
      #expect(socket.lastSendError == .messageTooLarge)
    }
  }

  @Test func `only sockets with reuseAddress share a port`() async throws {
    try await onLoop { loop in
      var options = UDPOptions()
      let alone = try makeSender(on: loop, bind: .loopback4)
      let port = alone.localEndpoint.port
      #expect(throws: TransportError.addressInUse(port: port)) {
        _ = try UDPSocket(on: loop, bind: alone.localEndpoint) { _ in }
      }
      options.reuseAddress = true
      let first = try UDPSocket(on: loop, bind: Endpoint(.any4, port: 0), options: options) { _ in }
      let second = try UDPSocket(on: loop, bind: first.localEndpoint, options: options) { _ in }
      #expect(second.localEndpoint == first.localEndpoint)
    }
  }

  @Test func `no callback follows a close inside a callback`() async throws {
    try await onLoop { loop in
      let calls = Events<Int>()
      let holder = Holder<UDPSocket>()
      let socket = try UDPSocket(on: loop, bind: Endpoint(.loopback4, port: 0)) { batch in
        calls.add(batch.count)
        holder.value?.close()
      }
      holder.value = socket
      for _ in 0..<300 { socket.send([1], to: socket.localEndpoint) }
      socket.flush()
      _ = await calls.next()
      try await pass(on: loop)
      #expect(calls.count == 0 && !socket.isOpen)
      #expect(!socket.send([1], to: socket.localEndpoint))
      #expect(throws: TransportError.closed) { try socket.setHopLimit(1) }
      #expect(socket.counters.sent == 300)
    }
  }
}

/// A reference that a closure can capture before its value exists.
final class Holder<Value> { var value: Value? }

func makeReceiver(
  on loop: NetworkLoop, bind address: IPAddress, port: UInt16 = 0,
  options: UDPOptions = UDPOptions()
) throws(TransportError) -> (UDPSocket, Events<Datagram>) {
  let events = Events<Datagram>()
  let socket = try UDPSocket(
    on: loop, bind: Endpoint(address, port: port), options: options
  ) { batch in
    for index in batch.indices { events.add(batch[index].copy()) }
  }
  return (socket, events)
}

func makeSender(on loop: NetworkLoop, bind address: IPAddress) throws(TransportError) -> UDPSocket {
  try UDPSocket(on: loop, bind: Endpoint(address, port: 0)) { _ in }
}

func loopbackIndex() -> UInt32 {
  (try? Interfaces.list().first { $0.isLoopback }?.index) ?? 0
}
