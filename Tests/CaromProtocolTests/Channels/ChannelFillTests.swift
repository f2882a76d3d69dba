import CaromCore
import Testing

@testable import CaromProtocol

/// Which messages share a packet, in which order, and when a message is sent in fragments.
@Suite struct ChannelFillTests {
  /// The length of the longest message that fits whole beside 64 bytes for headers.
  private static let small = 1_200 - 64

  /// The channel and number of each frame's record, in order.
  private func frames(_ packet: ChannelPair.Packet?) -> [[UInt64]] {
    packet?.records.map { [UInt64($0.channel), $0.number] } ?? []
  }

  // MARK: Fragments

  @Test func `a message of more than 16 KiB is bulk however large packets are`() throws {
    for (length, isSmall) in [(16_384, true), (16_385, false)] {
      var pair = ChannelPair()
      try pair.send(1, length: 1, .reliableSequenced)
      _ = pair.fill(limit: 65_536)
      try pair.send(2, length: length, .reliableUnordered)
      #expect(pair.near.hasUrgent == isSmall && pair.near.hasPending)
      #expect((pair.fill(limit: 65_536, includeBulk: false) != nil) == isSmall)
    }
  }

  @Test func `a message that is longer than a packet without 64 bytes is bulk`() throws {
    for (length, isSmall) in [(Self.small, true), (Self.small + 1, false)] {
      for delivery in Delivery.allCases {
        var pair = ChannelPair()
        try pair.send(1, length: length, delivery)
        #expect(pair.near.hasUrgent == isSmall)
        #expect((pair.fill(includeBulk: false) != nil) == isSmall)
      }
    }
  }

  @Test func `a bulk message that fits whole into a packet is not fragmented`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: Self.small + 50)
    #expect(try pair.next().records.map(\.kind) == [.reliable])
  }

  @Test func `a fragment has at least 512 bytes unless it is the last`() throws {
    for limit in 515..<540 {
      let writer = FrameWriter(limit: limit)
      let room = writer.fragmentRoom(channel: 0, total: 3_000, offset: 0)
      var pair = ChannelPair()
      try pair.send(1, length: 3_000)
      let packet = pair.fill(limit: limit)
      #expect(packet?.records.map(\.length) == (room >= 512 ? [UInt32(room)] : nil))
    }
    var pair = ChannelPair()
    try pair.send(1, length: 1_300)
    let first = try pair.next()
    #expect(pair.fill(limit: 100) == nil, "about 112 bytes remain")
    let last = try pair.next(limit: 200)
    #expect(first.records[0].length + last.records[0].length == 1_300)
    #expect(last.records[0].offset == first.records[0].length)
  }

  @Test func `a small message waits for the next packet rather than being fragmented`() throws {
    for delivery in Delivery.allCases {
      var pair = ChannelPair()
      try pair.send(1, length: 100, on: 1)
      try pair.send(2, length: Self.small, on: 2, delivery)
      try pair.deliver(try pair.next())
      #expect(pair.takeFirstBytes() == [1])
      try pair.deliver(try pair.next())
      #expect(pair.takeFirstBytes() == [2])
    }
  }

  @Test func `fragments fill the rest of a packet that has other messages`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 100, on: 1)
    try pair.send(2, length: 3_000, on: 2)
    let packet = try pair.next()
    #expect(packet.bytes.count == 1_200 && packet.records.map(\.kind) == [.reliable, .fragment])
  }

  // MARK: Order

  @Test func `a packet skips at most four channels whose message does not fit`() throws {
    for (misfits, isSent) in [(3, true), (4, false)] {
      var pair = ChannelPair()
      for channel in 0...misfits { try pair.send(1, length: 800, on: UInt8(channel)) }
      try pair.send(9, length: 10, on: 9)
      #expect(try frames(pair.next()) == (isSent ? [[0, 0], [9, 0]] : [[0, 0]]))
      // The skipped channels keep their places.
      #expect(try frames(pair.next()).first == [1, 0])
    }
  }

  @Test(arguments: [Delivery.reliableOrdered, .reliableUnordered])
  func `lost messages are sent again before new ones, the first lost first`(delivery: Delivery)
    throws
  {
    var pair = ChannelPair()
    var packets: [ChannelPair.Packet] = []
    for byte in 0..<3 as Range<UInt8> {
      try pair.send(byte, delivery)
      packets.append(try pair.next())
    }
    try pair.send(3, delivery)
    for index in [2, 0] { pair.lose(packets[index]) }
    #expect(pair.near.hasUrgent)
    #expect(try frames(pair.next()) == [[0, 2], [0, 0], [0, 3]])
    pair.lose(packets[1])
    #expect(try frames(pair.next(includeBulk: false)) == [[0, 1]], "a lost message is not bulk")
  }

  @Test func `lost fragments of an ordered channel precede its next message`() throws {
    for (delivery, expected) in [
      (Delivery.reliableOrdered, [UInt64(0), 1]), (.reliableUnordered, [1, 0]),
    ] {
      var pair = ChannelPair()
      try pair.send(1, length: 2_000, delivery)
      _ = try pair.next()
      let last = try pair.next()
      try pair.send(2, delivery)
      pair.lose(last)
      #expect(try frames(pair.next()).map { $0[1] } == expected)
    }
  }

  @Test func `lost fragments and further fragments are bulk`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 3_000)
    let first = try pair.next()
    #expect(pair.fill(includeBulk: false) == nil && !pair.near.hasUrgent)
    while pair.fill() != nil {}
    pair.lose(first)
    #expect(pair.fill(includeBulk: false) == nil && !pair.near.hasUrgent)
    #expect(try pair.next().records == first.records)
  }

  @Test func `small messages of an ordered channel do not overtake its bulk`() throws {
    for delivery in [Delivery.reliableOrdered, .reliableSequenced, .unreliableSequenced] {
      var pair = ChannelPair()
      try pair.send(1, length: 3_000, delivery)
      _ = try pair.next()
      try pair.send(2, delivery)
      #expect(pair.fill(includeBulk: false) == nil && !pair.near.hasUrgent)
    }
  }

  @Test func `fragments that were acknowledged are not sent again`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 5_000)
    var packets: [ChannelPair.Packet] = []
    while let packet = pair.fill() { packets.append(packet) }
    pair.acknowledge(packets[1])
    pair.lose(packets[0])
    pair.lose(packets[2])
    let again = [try pair.next(), try pair.next()]
    let ranges = [packets[0], packets[2]].map { $0.records[0].offset }
    #expect(again.map { $0.records[0].offset } == ranges)
    #expect(pair.fill() == nil)
    for packet in again + packets.dropFirst(3) { pair.acknowledge(packet) }
    #expect(pair.near.isDrained)
  }

  // MARK: Plans

  @Test func `a channel in use changes its priority at once`() throws {
    var pair = ChannelPair()
    try pair.send(1, on: 1)
    try pair.send(2, on: 2)
    pair.near.setPlan(ChannelPlan(priority: 3), for: 2)
    #expect(try frames(pair.next()) == [[2, 0], [1, 0]])
    pair.near.setPlan(ChannelPlan(priority: 5), for: 2)
    try pair.send(2, on: 2)
    try pair.send(1, on: 1)
    try pair.send(2, on: 2, .reliableUnordered)
    #expect(try frames(pair.next()).map { $0[0] } == [1, 2, 2])
  }

  @Test func `the first message of each delivery brings the plan of its channel`() throws {
    var pair = ChannelPair()
    func send(_ priority: UInt8?, on channel: UInt8, _ delivery: Delivery) throws {
      var options = SendOptions(delivery)
      options.plan = priority.map { ChannelPlan(priority: $0) }
      let byte: [UInt8] = [0]
      try pair.near.send(byte.span, on: channel, options, at: .zero)
    }
    try send(6, on: 1, .reliableOrdered)
    try send(nil, on: 2, .reliableOrdered)
    try send(0, on: 1, .reliableOrdered)
    #expect(try frames(pair.next()).map { $0[0] } == [2, 1, 1], "channel 1 has its plan already")
    try send(0, on: 1, .reliableUnordered)
    try send(nil, on: 2, .reliableOrdered)
    try send(nil, on: 1, .reliableOrdered)
    #expect(try frames(pair.next()).map { $0[0] } == [1, 1, 2])
  }

  // MARK: Copies

  @Test func `a probe repeats the oldest 64 unacknowledged messages of each channel`() throws {
    var pair = ChannelPair()
    for _ in 0..<70 { try pair.send(1) }
    for _ in 0..<2 { try pair.send(2, on: 1, .reliableUnordered) }
    try pair.send(3, on: 2, .unreliable)
    let packet = try pair.next()
    #expect(packet.records.count == 72)
    pair.near.handleAcknowledged(packet.records[0], at: pair.now)
    pair.near.handleAcknowledged(packet.records[2], at: pair.now)
    pair.near.handleLost(packet.records[3], at: pair.now)
    let repeated = repeatUnacknowledged(&pair)
    let ordered = [UInt64(1)] + Array(4...64)
    #expect(repeated.map { $0[1] } == ordered + [0, 1])
    #expect(repeatUnacknowledged(&pair, limit: 12).count < 10)
  }

  @Test func `a probe repeats no fragments`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 3_000)
    while pair.fill() != nil {}
    #expect(repeatUnacknowledged(&pair) == [])
  }

  private func repeatUnacknowledged(_ pair: inout ChannelPair, limit: Int = 1_200) -> [[UInt64]] {
    var writer = FrameWriter(limit: limit)
    var records: [FrameRecord] = []
    pair.near.fillUnacknowledged(&writer, records: &records)
    return frames(ChannelPair.Packet(bytes: [], records: records))
  }

  @Test func `copies wait until there is room for them`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 200)
    _ = try pair.next(redundancy: 1)
    for byte in 2...3 as ClosedRange<UInt8> { try pair.send(byte, length: 1_100, on: 1) }
    for number in 0...1 as ClosedRange<UInt64> {
      #expect(try frames(pair.next(redundancy: 1)) == [[1, number]])
    }
    #expect(try frames(pair.next(redundancy: 1)) == [[0, 0]])
    #expect(pair.near.statistics.redundant == 1)
    #expect(pair.fill(redundancy: 1) == nil)
  }

  @Test func `a message that is sent again is repeated too`() throws {
    var pair = ChannelPair()
    try pair.send(1)
    pair.lose(try pair.next())
    #expect(try frames(pair.next(redundancy: 2)) == [[0, 0]])
    #expect(pair.near.statistics.resent == 1 && pair.near.statistics.redundant == 0)
    var copies = 0
    while pair.fill(redundancy: 2) != nil { copies += 1 }
    #expect(copies == 2 && pair.near.statistics.redundant == 2)
  }

  @Test func `unreliable messages are never repeated`() throws {
    var pair = ChannelPair()
    try pair.send(1, .unreliable, wantsReceipt: true)
    try pair.send(1, on: 1, .unreliableSequenced, wantsReceipt: true)
    _ = try pair.next(redundancy: 3)
    #expect(pair.fill(redundancy: 3) == nil)
  }

  @Test(arguments: [
    (0.0049, 0.0), (0.005, 1), (0.026, 1), (0.056, 1.75), (0.0659, 1.9975), (0.066, 2), (0.12, 2),
    (0.14, 2.25), (0.2, 3), (0.9, 3),
  ])
  func `the redundancy follows from the loss rate`(loss: Double, redundancy: Double) {
    #expect((RedundantSends.redundancy(at: loss) - redundancy).magnitude < 1e-9)
  }
}
