import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// The last events of a connection, and the time that closing takes (ConnectionEvent.closed,
/// SessionTiming.closeLimit; WireFormat, "The life of a connection").
@Suite struct ClosingTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let key = ConnectionKey(prefix: 1, rest: 2)

  /// A responder whose datagram path has received a packet, and to which the connection is open.
  private func makeResponder(timing: SessionTiming = SessionTiming()) -> Connection {
    var host = Connection.responding(
      to: Hello(key: key, epoch: 1, resumes: false, cookie: nil),
      from: DatagramPair.clientRoute, as: LocalSide(makePeer(1), timing: timing), at: now)
    host.receiveDatagram(DataPacket.encode(0, [.ping]).span, at: now)
    host.handleRequest(of: makePeer(2), at: now)
    host.admit(at: now)
    while host.pollEvent() != nil {}
    return host
  }

  @Test(arguments: [(Delivery.unreliable, true), (.reliableOrdered, false)])
  func `receipts of messages that are dropped at the end precede the closed event`(
    delivery: Delivery, closesItself: Bool
  ) throws {
    var pair = ConnectionPair.opened()
    let options = SendOptions(delivery, wantsReceipt: true)
    let sent = try pair.client.send([1].span, on: 3, options, at: pair.now)
    let number = try #require(sent)
    pair.clientEvents = []
    if closesItself {
      pair.client.close(Goodbye(.left), at: pair.now)
    } else {
      pair.host.close(Goodbye(.left), at: pair.now)
    }
    pair.exchange()
    #expect(
      pair.clientEvents == [
        .channel(.receipt(channel: 3, message: number, delivered: false)),
        .closed(closesItself ? .closedLocally : .left),
      ])
  }

  @Test func `a message that arrives while its sender is closing has no receipt after the end`()
    throws
  {
    var host = makeResponder()
    let options = SendOptions(.reliableOrdered, wantsReceipt: true)
    try host.send([1].span, on: 3, options, at: now)
    let packets = pollDatagrams(&host, at: now)
    host.close(Goodbye(.left), at: now)
    #expect(pollEvents(&host) == [.closed(.closedLocally)])
    let last = UInt64(try #require(packets.last).header.number)
    let frames: [FrameValue] = [.acknowledgement([0...last], AckDelay(byte: 0))]
    host.receiveDatagram(DataPacket.encode(1, frames).span, at: now)
    #expect(pollEvents(&host) == [])
    let sent = pollDatagrams(&host, at: now)
    #expect(sent.contains { $0.hasGoodbye })
  }

  @Test func `a connection that is closed while it is interrupted is not resumed after that`() {
    var timing = SessionTiming()
    timing.resumeLimit = .seconds(30)
    var host = makeResponder(timing: timing)
    let silent = now + timing.silenceLimit
    host.handleTimeout(at: silent)
    host.close(Goodbye(.left), at: silent)
    #expect(pollEvents(&host) == [.interrupted, .closed(.closedLocally)])
    host.receiveDatagram(DataPacket.encode(1, [.ping]).span, at: silent)
    #expect(pollEvents(&host) == [])
  }

  @Test func `a message that expires is reported at once, although nothing arrives`() throws {
    var host = makeResponder()
    let deadline = now + .milliseconds(10)
    let options = SendOptions(.unreliable, deadline: deadline, wantsReceipt: true)
    let sent = try host.send([2].span, on: 2, options, at: now)
    let number = try #require(sent)
    host.handleTimeout(at: deadline)
    #expect(
      pollEvents(&host) == [
        .channel(.expired(channel: 2, message: number)),
        .channel(.receipt(channel: 2, message: number, delivered: false)),
      ])
  }

  @Test func `a goodbye that waits for a message is sent 50 ms before the limit, and no later`()
    throws
  {
    var host = makeResponder()
    try host.send([1], on: 0, at: now)
    host.close(Goodbye(.left), at: now)
    var (first, last) = (Duration?.none, Duration.zero)
    while let due = host.nextTimeout {
      host.handleTimeout(at: due)
      let packets = pollDatagrams(&host, at: due)
      if first == nil, packets.contains(where: { $0.hasGoodbye }) { first = due - now }
      if !packets.isEmpty { last = due - now }
      #expect(due - now <= .seconds(1))
    }
    #expect(first == .milliseconds(950))
    #expect(last < .seconds(1))
    #expect(host.isClosed)
  }

  @Test func `a goodbye that nothing delays is sent at once, and repeated for up to a second`()
    throws
  {
    var host = makeResponder()
    let last = UInt64(try #require(pollDatagrams(&host, at: now).last).header.number)
    let frames: [FrameValue] = [.acknowledgement([0...last], AckDelay(byte: 0))]
    host.receiveDatagram(DataPacket.encode(1, frames).span, at: now)
    host.close(Goodbye(.left), at: now)
    let sent = pollDatagrams(&host, at: now)
    #expect(sent.contains { $0.hasGoodbye })
    var end = now
    while let due = host.nextTimeout {
      end = due
      host.handleTimeout(at: due)
      _ = pollDatagrams(&host, at: due)
    }
    #expect(end == now + .seconds(1))
    #expect(host.isClosed)
  }
}
