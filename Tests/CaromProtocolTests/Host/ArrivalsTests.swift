import CaromCore
import Testing

@testable import CaromProtocol

/// Messages that are read where their datagram lies.
@Suite struct ArrivalsTests {
  /// The messages that a batch of datagrams brings to the host, read from the datagrams.
  private func receive(
    _ datagrams: [[UInt8]], _ arrivals: inout Arrivals, at pair: inout DatagramPair
  ) -> [[UInt8]] {
    arrivals.removeAll()
    for (index, datagram) in datagrams.enumerated() {
      arrivals.datagram = index
      pair.host.receiveDatagram(
        datagram.span, from: DatagramPair.clientRoute, into: &arrivals, at: pair.now)
    }
    return arrivals.messages.map { message in
      let start = Int(message.offset)
      return Array(datagrams[Int(message.datagram)][start..<start + Int(message.length)])
    }
  }

  /// A pair whose client has sent each of `messages` in a datagram of its own.
  private func makePair(
    _ messages: [[UInt8]], _ delivery: Delivery
  ) throws -> (pair: DatagramPair, datagrams: [[UInt8]]) {
    var pair = DatagramPair.opened()
    pair.run(for: .seconds(1))
    pair.hostReads = false
    for message in messages {
      try pair.client.send(message, on: 5, delivery, to: pair.id, at: pair.now)
      pair.drain()
    }
    return (pair, pair.takeToHost())
  }

  @Test(arguments: Delivery.allCases)
  func `messages that need not wait are read from their datagrams, in order`(
    delivery: Delivery
  ) throws {
    let messages: [[UInt8]] = [[1, 2, 3], [], [4]]
    var (pair, datagrams) = try makePair(messages, delivery)
    var arrivals = Arrivals()
    arrivals.channels = .all
    #expect(receive(datagrams, &arrivals, at: &pair) == messages)
    #expect(arrivals.messages.allSatisfy { $0.channel == 5 && $0.delivery == delivery })
    let host = try #require(pair.hostID)
    #expect(arrivals.messages.allSatisfy { $0.connectionID == host })
    #expect(!pair.host.hasMessages(host))
    #expect(pair.host.statistics(of: host)?.messagesReceived ?? 0 >= 3)
    #expect(receive(datagrams, &arrivals, at: &pair) == [], "a datagram counts once")
  }

  @Test func `a message that waits for an older one is stored, and so are all after it`() throws {
    let messages: [[UInt8]] = [[1], [2], [3], [4]]
    var (pair, datagrams) = try makePair(messages, .reliableOrdered)
    var arrivals = Arrivals()
    arrivals.channels = .all
    #expect(receive([datagrams[1]], &arrivals, at: &pair) == [])
    #expect(receive([datagrams[0], datagrams[2]], &arrivals, at: &pair) == [])
    let host = try #require(pair.hostID)
    #expect((0..<3).map { _ in pair.host.pollMessage(on: host)?.bytes } == [[1], [2], [3]])
    #expect(receive([datagrams[3]], &arrivals, at: &pair) == [[4]])
  }

  @Test func `messages of other channels are stored`() throws {
    var (pair, datagrams) = try makePair([[1]], .reliableOrdered)
    var arrivals = Arrivals()
    arrivals.channels.insert(6)
    #expect(receive(datagrams, &arrivals, at: &pair) == [])
    let host = try #require(pair.hostID)
    #expect(pair.host.pollMessage(on: host)?.bytes == [1])
  }

  @Test func `messages that follow an event are stored until the event is polled`() throws {
    var pair = DatagramPair()
    pair.hostReads = false
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    pair.exchange()
    try pair.client.send([1], on: 0, to: pair.id, at: pair.now)
    pair.drain()
    let datagrams = pair.takeToHost()
    let host = try #require(pair.hostID)
    pair.host.report(.connection(host, .resumed))
    var arrivals = Arrivals()
    arrivals.channels = .all
    #expect(receive(datagrams, &arrivals, at: &pair) == [])
    #expect(pair.host.pollReadable() == nil)
    #expect(pair.host.pollEvent() == .connection(host, .resumed))
    #expect(pair.host.pollReadable() == host)
    #expect(pair.host.pollMessage(on: host)?.bytes == [1])
  }

  @Test func `a parked arrival precedes later messages, and is credited when it is read`()
    throws
  {
    var (pair, datagrams) = try makePair([[1], [2]], .reliableOrdered)
    var arrivals = Arrivals()
    arrivals.channels = .all
    let bytes = try #require(receive([datagrams[0]], &arrivals, at: &pair).first)
    let host = try #require(pair.hostID)
    let arrival = arrivals.messages[0]
    pair.host.park(arrival, bytes.span)
    #expect(receive([datagrams[1]], &arrivals, at: &pair) == [])
    func consumed() throws -> UInt64 {
      let channels = try #require(pair.host.connection(host)).channels
      return channels.channels[Int(channels.channelTable[5])].credit.consumed
    }
    #expect(try consumed() == 0)
    #expect((0..<2).map { _ in pair.host.pollMessage(on: host)?.bytes } == [[1], [2]])
    #expect(try consumed() == 2 * UInt64(1 + ChannelLimits.messageCharge))
  }
}
