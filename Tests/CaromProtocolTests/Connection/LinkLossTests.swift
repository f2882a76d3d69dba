import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// What a connection does when its links fail (WireFormat, "The life of a connection", step 5, and
/// "Link selection").
@Suite struct LinkLossTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let key = ConnectionKey(prefix: 1, rest: 2)

  private static var resuming: SessionTiming {
    var timing = SessionTiming()
    timing.resumeLimit = .seconds(30)
    return timing
  }

  /// A responder with both links whose peer has requested a seat on them.
  private func makeRequested() -> Connection {
    var host = Connection.responding(
      to: Hello(key: key, epoch: 1, resumes: false, cookie: nil),
      from: DatagramPair.clientRoute, as: LocalSide(makePeer(1)), at: now)
    host.receiveDatagram(DataPacket.encode(0, [.ping]).span, at: now)
    host.adoptStream(
      StreamPath(limit: Connection.handshakeFrameLimit), of: makePeer(2), at: now)
    _ = pollEvents(&host)
    return host
  }

  @Test func `a request outlives its stream if the peer answers over datagrams`() throws {
    var host = makeRequested()
    host.handleLinkEnd(.reset, at: now)
    let probe = try #require(pollDatagrams(&host, at: now).last)
    #expect(probe.frames.contains(.ping))
    let number = UInt64(probe.header.number)
    let frames: [FrameValue] = [.acknowledgement([0...number], AckDelay(byte: 0))]
    host.receiveDatagram(DataPacket.encode(1, frames).span, at: now + .milliseconds(999))
    host.handleTimeout(at: now + .seconds(1))
    #expect(pollEvents(&host) == [])
    host.admit(at: now + .seconds(2))
    #expect(pollEvents(&host) == [.opened(makePeer(2))])
  }

  @Test(arguments: [
    (LinkEnd.ended, DisconnectReason.connectionLost), (.reset, .connectionReset),
    (.timedOut, .timedOut),
  ])
  func `a request ends 1 s after its stream if the peer does not answer over datagrams`(
    end: LinkEnd, reason: DisconnectReason
  ) {
    var host = makeRequested()
    _ = pollDatagrams(&host, at: now)
    host.handleLinkEnd(end, at: now)
    var ended: Instant?
    while ended == nil, let due = host.nextTimeout {
      #expect(pollEvents(&host) == [])
      host.handleTimeout(at: due)
      _ = pollDatagrams(&host, at: due)
      if host.isEnding { ended = due }
    }
    #expect(ended == now + .seconds(1))
    #expect(pollEvents(&host) == [.closed(reason)])
    #expect(host.isClosed)
  }

  @Test func `a request on a stream alone ends with it`() {
    var pair = ConnectionPair()
    pair.exchange()
    pair.hostEvents = []
    pair.host.handleLinkEnd(.ended, at: pair.now)
    pair.exchange()
    #expect(pair.hostEvents == [.closed(.connectionLost)])
    #expect(pair.host.isClosed)
  }

  /// An initiator on a stream, whose connection is open, and interrupted now.
  private func makeInterrupted() -> Connection {
    var client = Connection.initiatingOnStream(
      as: LocalSide(makePeer(2), timing: Self.resuming), key: key, at: now)
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(1)).packet.framed()
    client.receive(grant.span, at: now)
    client.handleLinkEnd(.reset, at: now)
    #expect(pollEvents(&client) == [.opened(makePeer(1)), .interrupted, .reconnect])
    return client
  }

  /// The times of a connection's `reconnect` events from now on, in seconds since `now`, and how
  /// it ends.
  private func runToEnd(_ client: inout Connection) -> (Set<Double>, [ConnectionEvent]) {
    var reconnects: Set<Double> = []
    var others: [ConnectionEvent] = []
    while let due = client.nextTimeout {
      client.handleTimeout(at: due)
      for event in pollEvents(&client) {
        if event == .reconnect {
          reconnects.insert((due - now) / .seconds(1))
        } else {
          others.append(event)
        }
      }
    }
    return (reconnects, others)
  }

  @Test func `a stream is requested again during an interruption, with growing delays`() {
    var client = makeInterrupted()
    let (times, others) = runToEnd(&client)
    #expect(times == [1, 3, 7, 15, 23])
    #expect(others == [.closed(.timedOut)])
  }

  @Test func `no stream is requested while there is one, but again once it has ended`() {
    var client = makeInterrupted()
    client.addStream(at: now)
    client.handleTimeout(at: now + .seconds(1))
    client.handleTimeout(at: now + .seconds(3))
    #expect(pollEvents(&client) == [])
    client.handleLinkEnd(.reset, at: now + .seconds(4))
    #expect(pollEvents(&client) == [])
    #expect(runToEnd(&client).0 == [7, 15, 23])
  }

  @Test func `a resumed connection requests no stream until the next interruption`() {
    var client = makeInterrupted()
    client.handleTimeout(at: now + .seconds(1))
    client.addStream(at: now + .seconds(2))
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(1)).packet.framed()
    client.receive(grant.span, at: now + .seconds(2))
    #expect(pollEvents(&client) == [.reconnect, .resumed])
    client.handleTimeout(at: now + .seconds(3))
    #expect(pollEvents(&client) == [])
    client.handleLinkEnd(.reset, at: now + .seconds(4))
    #expect(pollEvents(&client) == [.interrupted, .reconnect])
    #expect(client.nextTimeout == now + .seconds(5))
    #expect(runToEnd(&client).0 == [5, 7, 11, 19, 27])
  }

  @Test func `a responder never requests a stream`() {
    var host = Connection.openResponder(timing: Self.resuming, at: now)
    host.handleLinkEnd(.reset, at: now)
    let events = pollEvents(&host)
    #expect(events == [.requested(makePeer(2)), .opened(makePeer(2)), .interrupted])
    #expect(runToEnd(&host).0 == [])
  }
}
