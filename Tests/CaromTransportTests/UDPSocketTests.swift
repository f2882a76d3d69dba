import CaromCore
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct UDPSocketTests {
  @Test func `a datagram says where it came from, where it went and how far`() async throws {
    try await onLoop { loop in
      let received = Events<Datagram>()
      let socket = try UDPSocket(on: loop, bind: Endpoint(.any4, port: 0)) { batch in
        for index in batch.indices { received.add(batch[index].copy()) }
      }
      let sender = try UDPSocket(on: loop, bind: Endpoint(.v4(0x7F00_0002), port: 0)) { _ in }
      try sender.setHopLimit(7)
      let target = Endpoint(.v4(0x7F00_0003), port: socket.localEndpoint.port)
      #expect(sender.send([9, 8], to: target))
      sender.flush()
      let datagram = await received.next()
      #expect(datagram.payload == [9, 8])
      #expect(datagram.source == sender.localEndpoint)
      #expect(datagram.destination == target)
      #expect(datagram.hopLimit == 7)
      let loopback = try Interfaces.list().first { $0.isLoopback }
      #expect(datagram.interface == loopback?.index)
    }
  }
}
