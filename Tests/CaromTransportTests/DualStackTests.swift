import CaromCore
import Testing

@testable import CaromTransport

/// Tests of IPv6 sockets that send to IPv4 addresses too.
@Suite(.timeLimit(.minutes(1))) struct DualStackTests {
  private func makeSocket(on loop: NetworkLoop) throws(TransportError) -> UDPSocket {
    var options = UDPOptions()
    options.v6Only = false
    return try UDPSocket(on: loop, bind: Endpoint(.any6, port: 0), options: options) { _ in }
  }

  @Test(arguments: [IPAddress.loopback4, .loopback6])
  func `datagrams of both families are sent on a chosen interface`(
    address: IPAddress
  ) async throws {
    try await onLoop { loop in
      let socket = try makeSocket(on: loop)
      let (receiver, received) = try makeReceiver(on: loop, bind: address)
      socket.send([1], to: receiver.localEndpoint, interface: loopbackIndex())
      socket.flush()
      try #require(socket.lastSendError == nil)
      let source = await received.next().source
      #expect(source == Endpoint(address, port: socket.localEndpoint.port) && receiver.isOpen)
    }
  }

  @Test(arguments: [IPAddress.loopback4, .loopback6])
  func `the hop limit applies to both families`(address: IPAddress) async throws {
    try await onLoop { loop in
      let socket = try makeSocket(on: loop)
      try socket.setHopLimit(7)
      let (receiver, received) = try makeReceiver(on: loop, bind: address)
      socket.send([1], to: receiver.localEndpoint)
      socket.flush()
      #expect(await received.next().hopLimit == 7 && receiver.isOpen)
    }
  }

  @Test func `IPv4 multicast is sent on the multicast interface with the multicast hop limit`()
    async throws
  {
    try await onLoop { loop in
      let socket = try makeSocket(on: loop)
      try socket.setMulticastInterface(loopbackIndex())
      try socket.setMulticastHopLimit(9)
      let (member, heard) = try makeReceiver(on: loop, bind: .any4)
      try member.join(MulticastTests.group, on: loopbackIndex())
      socket.send([1], to: Endpoint(MulticastTests.group, port: member.localEndpoint.port))
      socket.flush()
      let datagram = await heard.next()
      #expect(datagram.hopLimit == 9 && datagram.interface == loopbackIndex() && member.isOpen)
      #expect(datagram.source == Endpoint(.loopback4, port: socket.localEndpoint.port))
    }
  }
}
