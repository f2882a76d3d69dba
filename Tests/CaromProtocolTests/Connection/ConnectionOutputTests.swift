import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// What a connection reports to its owner about its input and its output.
@Suite struct ConnectionOutputTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let key = ConnectionKey(prefix: 1, rest: 2)

  /// A responder over datagrams, whose connection is open, and which has sent what is due.
  private func makeResponder() -> Connection {
    var host = Connection.responding(
      to: Hello(key: key, epoch: 1, resumes: false, cookie: nil), from: DatagramPair.clientRoute,
      as: LocalSide(makePeer(1)), at: now)
    host.handleRequest(of: makePeer(2), at: now)
    host.admit(at: now)
    _ = pollEvents(&host)
    _ = pollDatagrams(&host, at: now)
    return host
  }

  private func receive(_ number: UInt16, _ frames: [FrameValue], on host: inout Connection) {
    host.receiveDatagram(DataPacket.encode(number, frames).span, at: now)
  }

  /// The numbers of the packets that a connection has acknowledged 20 ms later.
  private func acknowledged(by host: inout Connection) -> Set<UInt64> {
    let later = now + .milliseconds(20)
    host.handleTimeout(at: later)
    return Set(pollDatagrams(&host, at: later).flatMap(\.acknowledged).joined())
  }

  @Test func `a malformed datagram is counted, and is neither acknowledged nor the end`() {
    var host = makeResponder()
    receive(0, [.ping], on: &host)
    for (number, bytes) in [
      [0x04], [0xA0, 5, 0], [0x02, 200, 1, 0, 0, 0], [0x03, 65, 1], [0x00, 0, 1],
    ].enumerated() as EnumeratedSequence<[[UInt8]]> {
      host.receiveDatagram(([0x10, UInt8(number) + 1, 0] + bytes).span, at: now)
    }
    host.receiveDatagram([0x17, 9, 0].span, at: now)  // reserved bits
    host.receiveDatagram([0x00, 9].span, at: now)  // a number of one byte
    receive(7, [.ping], on: &host)
    #expect(host.datagram?.malformedPackets == 7)
    #expect(host.isOpen && pollEvents(&host) == [])
    #expect(acknowledged(by: &host) == [0, 7])
  }

  @Test func `an acknowledgement of a packet that was never sent makes its packet malformed`() {
    var host = makeResponder()
    let next = host.datagram?.flow.nextNumber ?? 0
    receive(0, [.acknowledgement([0...next], AckDelay(byte: 0)), .ping], on: &host)
    #expect(host.datagram?.malformedPackets == 1)
    receive(1, [.acknowledgement([0...next - 1], AckDelay(byte: 0)), .ping], on: &host)
    #expect(host.datagram?.malformedPackets == 1)
    #expect(host.datagram?.flow.largestAcknowledged == next - 1)
  }

  @Test func `a session packet with an unlisted action is counted and skipped over datagrams`() {
    var host = makeResponder()
    let later = Packet(type: 1, action: 11, payload: [1, 2]).encoded
    let ping = ControlPacket.ping(sent: 5).packet.encoded
    receive(
      0, [.message(.reliableOrdered, 64, 0, later), .message(.unreliable, 64, 0, ping)],
      on: &host)
    #expect(host.unknownPackets == 1 && host.isOpen)
    let pongs = pollDatagrams(&host, at: now).flatMap(\.controls)
    #expect(pongs == [.pong(sent: 5, clock: 1_000_000_000)])
  }

  @Test(arguments: [
    Packet(type: 2, action: 4, payload: [UInt8](repeating: 0, count: 8)).encoded,
    Packet(type: 1, action: 4, payload: [UInt8](repeating: 0, count: 7)).encoded,
    Packet(type: 1, action: 3, payload: [24, 2, 0, 0]).encoded, [1, 0, 4],
  ])
  func `a malformed session packet over datagrams ends the connection with code 8`(
    bytes: [UInt8]
  ) {
    var host = makeResponder()
    receive(0, [.message(.unreliable, 64, 0, bytes)], on: &host)
    #expect(pollEvents(&host) == [.closed(.protocolViolation)])
    // The grant and what follows it have not been acknowledged yet.
    receive(1, [.acknowledgement([0...0], AckDelay(byte: 0))], on: &host)
    let controls = pollDatagrams(&host, at: now).flatMap(\.controls)
    #expect(controls == [.goodbye(Goodbye(.protocolViolation))])
  }

  @Test func `the stream has output while something is queued that it carries`() throws {
    var host = Connection.respondingOnStream(as: LocalSide(makePeer(1)), at: now)
    #expect(!host.hasStreamOutput && host.queuedBytes == 0)
    let request = ControlPacket.request(version: 2, key, makePeer(2)).packet.framed()
    host.receive(request.span, at: now)
    #expect(!host.hasStreamOutput)
    host.admit(at: now)
    let grant = ControlPacket.grant(version: 2, makePeer(1)).packet.framed()
    let ping = ControlPacket.ping(sent: 1_000_000_000).packet.framed()
    #expect(host.hasStreamOutput && host.queuedBytes == grant.count + ping.count)
    #expect(host.pollStream(queued: 0, at: now) == grant + ping)
    #expect(!host.hasStreamOutput && host.queuedBytes == 0)
    try host.send([1, 2, 3], on: 0, at: now)
    #expect(host.hasStreamOutput && host.queuedBytes == 3)
    _ = host.pollStream(queued: 0, at: now)
    #expect(!host.hasStreamOutput)
    let carrier = Packet(type: 3, action: 0, payload: [0x01]).framed()
    host.receive(carrier.span, at: now)
    #expect(!host.hasStreamOutput)
    host.handleTimeout(at: now + .milliseconds(50))
    #expect(host.hasStreamOutput, "an acknowledgement is due")
    _ = host.pollStream(queued: 0, at: now)
    host.close(Goodbye(.left), at: now)
    #expect(host.hasStreamOutput)
    _ = host.pollStream(queued: 0, at: now)
    #expect(host.hasStreamOutput, "the stream is to be closed")
    #expect(nextLinkAction(&host) == .closeAfterFlush)
    #expect(!host.hasStreamOutput && host.isClosed)
  }

  @Test func `one messages event covers everything that has arrived, and precedes the end`() {
    var host = makeResponder()
    receive(0, [.message(.reliableOrdered, 3, 0, [1])], on: &host)
    receive(1, [.message(.reliableOrdered, 3, 1, [2])], on: &host)
    #expect(pollEvents(&host) == [.messages])
    #expect(host.pollMessage()?.bytes == [1])
    receive(2, [.message(.reliableOrdered, 3, 2, [3])], on: &host)
    let goodbye = ControlPacket.goodbye(Goodbye(.left)).packet.encoded
    receive(3, [.message(.reliableOrdered, 64, 0, goodbye)], on: &host)
    #expect(pollEvents(&host).last == .closed(.left))
    #expect(host.pollMessage()?.bytes == [2])
    #expect(host.pollMessage()?.bytes == [3])
    #expect(host.pollMessage() == nil)
    #expect(host.isLingering)
  }

  @Test func `a peer is asked to end at most once, and further goodbyes are not reported`() {
    var host = makeResponder()
    host.close(Goodbye(.kicked, text: "why"), as: .kicked("why"), at: now)
    host.close(Goodbye(.left), at: now)
    let goodbye = ControlPacket.goodbye(Goodbye(.left)).packet.encoded
    receive(0, [.message(.reliableOrdered, 64, 0, goodbye)], on: &host)
    #expect(pollEvents(&host) == [.closed(.kicked("why"))])
    receive(1, [.acknowledgement([0...0], AckDelay(byte: 0))], on: &host)
    let controls = pollDatagrams(&host, at: now).flatMap(\.controls)
    #expect(controls == [.goodbye(Goodbye(.kicked, text: "why"))])
  }
}
