import CaromCore
import Testing

@testable import CaromProtocol

/// What a channel set and a flow do from time to time, and receipts that other messages decide.
@Suite struct ChannelUpkeepTests {
  @Test func `unused memory is freed once a second`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 100_000)
    try pair.exchange()
    _ = pair.take()
    let held = pair.near.heldBytes
    // The first call finds that the memory was needed, and the second one frees it.
    for (milliseconds, isHeld) in [(1_000, true), (1_999, true), (2_000, false)] {
      pair.now = .zero + .milliseconds(milliseconds)
      pair.near.growWindows(roundTrip: 1_000_000, at: pair.now)
      #expect((pair.near.heldBytes == held) == isHeld, "after \(milliseconds) ms")
    }
    #expect(pair.near.heldBytes == 0)
  }

  @Test func `the receipts of older sequenced messages precede that of the newest`() throws {
    var pair = ChannelPair()
    var packets: [ChannelPair.Packet] = []
    for byte in 0..<4 as Range<UInt8> {
      try pair.send(byte, .reliableSequenced, wantsReceipt: byte != 1)
      packets.append(try pair.next())
    }
    pair.acknowledge(packets[2])
    let expected: [ChannelEvent] = [
      .receipt(channel: 0, message: 0, delivered: false),
      .receipt(channel: 0, message: 2, delivered: true),
    ]
    #expect(pair.events() == expected)
    #expect(pair.near.queuedBytes == 1 + ChannelLimits.messageCharge)
    for index in [0, 1] { pair.acknowledge(packets[index]) }
    #expect(pair.events() == [])
    pair.acknowledge(packets[3])
    #expect(pair.events() == [.receipt(channel: 0, message: 3, delivered: true)])
    #expect(pair.near.isDrained)
  }

  @Test func `the rest of a partly sent message is not pending once it has been dropped`() throws {
    for delivery in [Delivery.reliableOrdered, .reliableSequenced, .unreliable] {
      var pair = ChannelPair()
      try pair.send(1, length: 60_000, delivery)
      try pair.send(2, length: 10, on: 1)
      let packets = [try pair.next(), try pair.next()]
      #expect(pair.near.pendingBytes > 50_000 && pair.near.pendingBytes < 60_010)
      pair.near.dropOutgoing()
      #expect(pair.near.pendingBytes == 0 && pair.near.queuedBytes == 0)
      for packet in packets { pair.acknowledge(packet) }
      #expect(pair.near.pendingBytes == 0 && pair.near.isDrained && pair.fill() == nil)
    }
  }

  @Test func `a whole unreliable message is delivered or lost with its packet`() throws {
    for delivery in [Delivery.unreliable, .unreliableSequenced] {
      var pair = ChannelPair()
      let packets = try (0..<2).map { _ in
        try pair.send(1, delivery, wantsReceipt: true)
        return try pair.next()
      }
      pair.lose(packets[0])
      pair.acknowledge(packets[1])
      let expected: [ChannelEvent] = [
        .receipt(channel: 0, message: 0, delivered: false),
        .receipt(channel: 0, message: 1, delivered: true),
      ]
      #expect(pair.events() == expected)
      #expect(pair.fill() == nil)
    }
  }

  /// SessionTiming.fullQueueLimit: what a peer acknowledges that reads nothing does not count.
  @Test(arguments: Delivery.allCases)
  func `the acknowledged frames of messages that need credit are counted`(delivery: Delivery)
    throws
  {
    var pair = ChannelPair()
    try pair.send(1, length: 2_000, delivery)
    try pair.send(2, on: 1, delivery)
    let packets = [try pair.next(), try pair.next()]
    #expect(pair.fill() == nil && pair.near.acknowledgedFrames == 0)
    for packet in packets { pair.acknowledge(packet) }
    let isCounted = delivery == .reliableOrdered || delivery == .reliableUnordered
    #expect(pair.near.acknowledgedFrames == (isCounted ? 3 : 0))
    for packet in packets { pair.acknowledge(packet) }
    #expect(pair.near.acknowledgedFrames == (isCounted ? 3 : 0))
  }

  /// PeerStatistics.Traffic.messagesQueued.
  @Test func `messages that are acknowledged or have expired no longer count as queued`() throws {
    var pair = ChannelPair()
    func queued() -> [Int] {
      var statistics = PeerStatistics()
      pair.near.add(to: &statistics)
      return statistics.channels.map(\.messagesQueued)
    }
    let packets = try (0..<UInt8(3)).map { byte in
      try pair.send(byte, .reliableUnordered)
      return try pair.next()
    }
    #expect(queued() == [3])
    for packet in packets.dropFirst() { pair.acknowledge(packet) }
    #expect(queued() == [1])
    pair.acknowledge(packets[0])
    #expect(queued() == [0])
    for deadline in [nil, .milliseconds(10)] as [Duration?] {
      try pair.send(4, deadline: deadline)
      try pair.send(4, length: 20_000, .unreliable, deadline: deadline)
    }
    #expect(queued() == [4])
    pair.now = pair.now + .milliseconds(10)
    pair.near.handleTimeout(at: pair.now)
    #expect(queued() == [2])
  }

  @Test func `a refused message is not counted as sent`() throws {
    var pair = ChannelPair()
    #expect(throws: SendError.self) { try pair.send(1, length: 70_000, .unreliable) }
    for _ in 0..<4 { try pair.send(1, length: 1 << 20 - ChannelLimits.messageCharge) }
    #expect(throws: SendError.self) { try pair.send(1) }
    #expect(pair.near.statistics.messagesSent == 4)
    #expect(pair.near.traffic(of: 0).messagesSent == 4)
    #expect(pair.near.traffic(of: 0).bytesSent == 4_194_048)
  }

  @Test func `a side that only acknowledges asks for an answer if none is awaited`() {
    var bench = FlowBench()
    bench.send(at: 0)
    bench.send(32, at: 0, isAckEliciting: false)
    #expect(!bench.flow.shouldElicitAck)
    bench.acknowledge(0...0, at: 100)
    #expect(bench.flow.shouldElicitAck)
  }
}
