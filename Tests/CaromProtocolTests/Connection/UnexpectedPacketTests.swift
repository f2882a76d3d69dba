import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// Session packets that a side must not send.
@Suite struct UnexpectedPacketTests {
  private let now = Instant(nanoseconds: 1_000_000_000)

  @Test func `a ping before the grant is a violation on a stream`() {
    var pair = ConnectionPair()
    pair.exchange()
    pair.host.receive(ControlPacket.ping(sent: 1).packet.framed().span, at: pair.now)
    #expect(nextEvent(&pair.host) == .closed(.protocolViolation))
  }

  @Test func `a ping before the grant is ignored over datagrams`() {
    let key = ConnectionKey(prefix: 1, rest: 2)
    var host = Connection.responding(
      to: Hello(key: key, epoch: 1, resumes: false, cookie: nil),
      from: Route(Endpoint(.loopback4, port: 1_000)), as: LocalSide(makePeer(1)),
      at: now)
    let request = ControlPacket.request(version: SessionWire.version, key, makePeer(2))
    host.receive(request, on: .datagram, at: now)
    host.receive(.ping(sent: 1), on: .datagram, at: now)
    #expect(!host.channels.hasPending && !host.isEnding)
  }

  @Test func `a grant to the responder is a violation`() {
    var pair = ConnectionPair.opened()
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(2)).packet.framed()
    pair.host.receive(grant.span, at: pair.now)
    pair.exchange()
    #expect(pair.hostEvents.endings == [.protocolViolation])
  }

  @Test func `a request to the initiator is a violation`() {
    var pair = ConnectionPair.opened()
    let request = ControlPacket.request(version: SessionWire.version, .none, makePeer(1))
    pair.client.receive(request.packet.framed().span, at: pair.now)
    pair.exchange()
    #expect(pair.clientEvents.endings == [.protocolViolation])
  }
}
