import CaromCore
import Testing

@testable import CaromTransport

@Suite(.timeLimit(.minutes(1))) struct MulticastTests {
  /// A multicast group of the documentation range (RFC 6676 §2).
  static let group = IPAddress.v4(0xE9FC_0063)

  @Test func `members of a group receive its datagrams; other sockets on the port do not`()
    async throws
  {
    try await onLoop { loop in
      var options = UDPOptions()
      options.reuseAddress = true
      let (member, heard) = try makeReceiver(on: loop, bind: .any4, options: options)
      let port = member.localEndpoint.port
      let (other, missed) = try makeReceiver(on: loop, bind: .any4, port: port, options: options)
      try member.join(Self.group, on: loopbackIndex())
      let sender = try makeSender(on: loop, bind: .loopback4)
      try sender.setMulticastInterface(loopbackIndex())
      try sender.setMulticastHopLimit(255)
      try sender.setMulticastLoopback(true)
      sender.send([1], to: Endpoint(Self.group, port: port))
      sender.flush()
      let datagram = await heard.next()
      #expect(datagram.destination == Endpoint(Self.group, port: port))
      #expect(datagram.interface == loopbackIndex() && datagram.hopLimit == 255)
      #expect(datagram.source == sender.localEndpoint)
      try await pass(on: loop)
      #expect(missed.count == 0 && other.isOpen && member.isOpen)
    }
  }

  @Test func `a socket that has left a group no longer receives its datagrams`() async throws {
    try await onLoop { loop in
      let (member, heard) = try makeReceiver(on: loop, bind: .any4)
      let target = Endpoint(Self.group, port: member.localEndpoint.port)
      try member.setMulticastInterface(loopbackIndex())
      try member.join(Self.group, on: loopbackIndex())
      member.send([1], to: target)
      member.flush()
      #expect(await heard.next().payload == [1])
      try member.leave(Self.group, on: loopbackIndex())
      member.send([2], to: target)
      member.flush()
      try await pass(on: loop)
      #expect(heard.count == 0 && member.isOpen)
    }
  }

  @Test func `joining a group on a missing interface throws noSuchInterface`() async throws {
    try await onLoop { loop in
      let socket = try makeSender(on: loop, bind: .any4)
      #expect(throws: TransportError.noSuchInterface) {
        try socket.join(Self.group, on: 999_999)
      }
    }
  }
}
