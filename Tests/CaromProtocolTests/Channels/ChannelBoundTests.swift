import CaromCore
import CaromProtocol
import Testing

/// Tests that fill each bound of the sending side.
@Suite struct ChannelBoundTests {
  /// The length of a message that fills a quarter of the send queue, its charge included.
  private let length = 1 << 20 - ChannelLimits.messageCharge

  @Test func `a full queue refuses reliable messages until half of it is free`() throws {
    var pair = ChannelPair()
    pair.near.handleCredit(channel: 0, limit: .max)
    for _ in 0..<4 { try pair.send(1, length: length) }
    #expect(pair.near.queuedBytes == ChannelLimits.sendBytes)
    #expect(throws: SendError.queueFull(queued: ChannelLimits.sendBytes)) {
      try pair.send(1, length: 0, on: 1, .reliableUnordered)
    }
    // Unreliable messages and those of the session are still accepted.
    try pair.send(2, on: 1, .unreliable)
    try pair.send(3, on: ChannelLimits.sessionChannel)
    while pair.near.queuedBytes > ChannelLimits.sendBytes / 2 {
      #expect(pair.events() == [])
      pair.acknowledge(try pair.next(limit: 65_536))
    }
    #expect(pair.events() == [.writable])
    try pair.send(1)
  }

  @Test func `the session's own channel may queue more than the other channels`() throws {
    var pair = ChannelPair()
    for _ in 0..<4 { try pair.send(1, length: length) }
    let all = ChannelLimits.sessionBytes - ChannelLimits.messageCharge
    try pair.send(1, length: all, on: ChannelLimits.sessionChannel)
    #expect(throws: SendError.self) { try pair.send(1, on: ChannelLimits.sessionChannel) }
  }

  @Test func `the oldest queued unreliable messages are dropped when too many bytes are queued`()
    throws
  {
    var pair = ChannelPair()
    for byte in 0..<70 {
      try pair.send(UInt8(byte), length: 1024, on: UInt8(byte % 3), .unreliable)
    }
    #expect(pair.near.pendingBytes == ChannelLimits.unreliableSendBytes)
    #expect(pair.near.statistics.overflowed == 6)
    try pair.exchange()
    #expect(pair.takeFirstBytes().sorted() == Array(6..<70))
  }

  @Test func `the oldest queued unreliable messages are dropped when too many are queued`() throws {
    var pair = ChannelPair()
    for _ in 0..<ChannelLimits.unreliableSendMessages + 5 { try pair.send(0, .unreliable) }
    #expect(pair.near.pendingBytes == ChannelLimits.unreliableSendMessages)
    #expect(pair.near.statistics.overflowed == 5)
  }

  @Test func `the number of unacknowledged messages of a channel is bounded`() throws {
    for delivery in [Delivery.reliableOrdered, .reliableUnordered] {
      var pair = ChannelPair()
      pair.near.handleCredit(channel: 0, limit: .max)
      for _ in 0..<ChannelLimits.outstandingMessages + 3 { try pair.send(0, length: 0, delivery) }
      var packets: [ChannelPair.Packet] = []
      while let packet = pair.fill() { packets.append(packet) }
      let records = packets.flatMap(\.records)
      #expect(records.count == ChannelLimits.outstandingMessages)
      #expect(!pair.near.hasPending)
      pair.near.handleAcknowledged(records[1], at: pair.now)
      #expect(!pair.near.hasPending)
      pair.near.handleAcknowledged(records[0], at: pair.now)
      #expect(pair.near.hasPending)
      #expect(try pair.next().records.count == 2)
    }
  }

  @Test func `no message is longer than its delivery allows`() throws {
    for delivery in Delivery.allCases {
      let limit =
        delivery == .reliableOrdered || delivery == .reliableUnordered ? 1 << 20 : 64 << 10
      #expect(ChannelLimits.length(of: delivery) == limit)
      var pair = ChannelPair()
      #expect(throws: SendError.tooLarge(size: limit + 1, limit: limit)) {
        try pair.send(1, length: limit + 1, delivery)
      }
      try pair.send(1, length: limit, delivery)
      try pair.exchange()
      #expect(pair.take().map(\.bytes) == [[UInt8](repeating: 1, count: limit)])
    }
  }

  @Test func `the number of messages sent redundantly is bounded`() throws {
    var pair = ChannelPair()
    for _ in 0..<ChannelLimits.redundantMessages + 10 { try pair.send(1) }
    let first = try pair.next(redundancy: 1)
    #expect(first.records.count == ChannelLimits.redundantMessages + 10)
    let copies = try pair.next(redundancy: 1)
    #expect(copies.records.count == ChannelLimits.redundantMessages)
  }

  @Test func `the oldest pending receipt of a fragmented message is dropped beyond the bound`()
    throws
  {
    var pair = ChannelPair()
    for _ in 0..<ChannelLimits.openReceipts + 1 {
      try pair.send(1, length: 2000, .unreliable, wantsReceipt: true)
      while pair.fill() != nil {}
    }
    #expect(pair.events() == [.receipt(channel: 0, message: 0, delivered: false)])
  }

  @Test func `events beyond the bound are dropped and counted`() throws {
    var pair = ChannelPair()
    for _ in 0..<ChannelLimits.events + 7 {
      try pair.send(1, .unreliableSequenced, wantsReceipt: true)
    }
    #expect(pair.events().count == ChannelLimits.events)
    #expect(pair.near.statistics.eventsDropped == 6)
  }

  @Test func `unused memory is freed`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 600_000)
    try pair.exchange()
    while !pair.take().isEmpty { try pair.exchange() }
    #expect(pair.near.heldBytes + pair.far.heldBytes >= 2 << 20)
    for second in 1...3 {
      pair.now = Instant.zero + .seconds(second)
      pair.near.growWindows(roundTrip: 1_000_000, at: pair.now)
      pair.far.growWindows(roundTrip: 1_000_000, at: pair.now)
    }
    #expect(pair.near.heldBytes == 0 && pair.far.heldBytes == 0)
  }
}
