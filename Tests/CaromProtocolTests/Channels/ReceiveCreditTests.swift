import CaromCore
import Testing

@testable import CaromProtocol

/// Flow control (WireFormat, "Messages"): the credit of a receiver, and what a sender does with it.
@Suite struct ReceiveCreditTests {
  private static let window = 262_144
  private static let quarter = window / 4

  @Test func `a new limit is sent when a quarter of the window was read`() throws {
    var credit = ReceiveCredit()
    for (count, isDue, limit) in [
      (Self.quarter - 1, false, Self.window), (1, true, Self.window + Self.quarter),
      (Self.quarter - 1, false, Self.window + Self.quarter),
      (11, true, Self.window + 2 * Self.quarter + 10),
    ] {
      let isRaised = credit.consume(count)
      #expect(isRaised == isDue && credit.limit == UInt64(limit))
    }
  }

  @Test func `bytes beyond the limit are refused and do not count`() throws {
    var credit = ReceiveCredit()
    try credit.receive(Self.window - 1)
    #expect(throws: DecodeError.tooLarge(length: 262_145, limit: 262_144)) {
      try credit.receive(2)
    }
    try credit.receive(1)
    #expect(credit.received == 262_144)
    #expect(throws: DecodeError.self) { try credit.receive(1) }
  }

  /// A sender needs the whole message and a quarter of the window, so that it need not wait.
  @Test func `credit for a whole message is granted once its first fragment has arrived`() throws {
    for (length, isDue) in [(6_608, false), (6_609, true)] {
      var credit = ReceiveCredit()
      try credit.receive(190_000)
      let isRaised = credit.reserve(length)
      #expect(isRaised == isDue && credit.reserved == UInt64(length))
      #expect(credit.limit == UInt64(Self.window + (isDue ? length : 0)))
      // Once the message is complete, as much less is granted.
      credit.unreserve(length)
      let isRaisedLater = credit.consume(Self.quarter)
      #expect(credit.reserved == 0 && isRaisedLater != isDue)
    }
  }

  @Test func `a limit never falls`() throws {
    var credit = ReceiveCredit()
    try credit.receive(200_000)
    let isRaised = credit.reserve(500_000)
    #expect(isRaised && credit.limit == UInt64(Self.window + 500_000))
    credit.unreserve(500_000)
    let results = [credit.consume(200_000), credit.raiseToWindow()]
    #expect(results == [false, false] && credit.limit == UInt64(Self.window + 500_000))
  }

  /// A reader that fell behind has not read the message after all.
  @Test func `bytes that were taken back do not count as read when the window grows`() {
    let start = Instant.zero + .seconds(1)
    var credit = ReceiveCredit()
    _ = credit.consume(Self.window)
    #expect(credit.grow(roundTrip: 1_000_000, room: .max, at: start) == Self.window)
    credit.takeBack(100)
    #expect(credit.consumed == UInt64(Self.window - 100))
    let second = credit.grow(roundTrip: 1_000_000, room: .max, at: start + .milliseconds(2))
    #expect(second == 0)
    _ = credit.consume(2 * Self.window - 1)
    let third = credit.grow(roundTrip: 1_000_000, room: .max, at: start + .milliseconds(4))
    #expect(third == 0)
    _ = credit.consume(2 * Self.window)
    let fourth = credit.grow(roundTrip: 1_000_000, room: .max, at: start + .milliseconds(6))
    #expect(fourth == 2 * Self.window)
  }

  @Test func `a window doubles if all of it was read within two round trips`() {
    let start = Instant.zero + .seconds(1)
    // The bytes read, the milliseconds since the last measurement, the room, and the growth.
    let rows: [(Int, Int, Int, Int)] = [
      (Self.window, 200, .max, Self.window), (Self.window - 1, 200, .max, 0),
      (Self.window, 199, .max, 0), (Self.window, 200, Self.window, Self.window),
      (Self.window, 200, Self.window - 1, 0),
    ]
    for (bytes, time, room, growth) in rows {
      var credit = ReceiveCredit()
      _ = credit.grow(roundTrip: 100_000_000, room: .max, at: start)
      _ = credit.consume(bytes)
      let grown = credit.grow(
        roundTrip: 100_000_000, room: room, at: start + .milliseconds(time))
      #expect(grown == growth && credit.window == Self.window + growth)
      guard growth > 0 else { continue }
      let results = [credit.raiseToWindow(), credit.raiseToWindow()]
      #expect(results == [true, false])
      #expect(credit.limit == UInt64(bytes + 2 * Self.window))
    }
  }

  @Test func `bytes that were read before a measurement do not count again`() {
    var credit = ReceiveCredit()
    var now = Instant.zero + .seconds(1)
    for bytes in [Self.window - 1, 1, Self.window / 2, Self.window / 2] {
      _ = credit.consume(bytes)
      let growth = credit.grow(roundTrip: 1_000_000, room: .max, at: now)
      #expect(growth == 0)
      now = now + .milliseconds(2)
    }
    // Too early for a measurement: the bytes count in the next one.
    _ = credit.consume(Self.window - 5)
    let early = credit.grow(roundTrip: 50_000_000, room: .max, at: now)
    _ = credit.consume(5)
    let late = credit.grow(roundTrip: 1_000_000, room: .max, at: now)
    #expect(early == 0 && late == Self.window)
  }

  @Test func `the new limit of a window that has grown is sent`() throws {
    var pair = ChannelPair()
    _ = pair.far.index(ofChannel: 0)
    pair.now = .zero + .seconds(1)
    pair.far.growWindows(roundTrip: 100_000_000, at: pair.now)
    for byte in 1...4 { try pair.send(UInt8(byte), length: Self.quarter - 64) }
    while let packet = pair.fill() {
      try pair.deliver(packet)
      pair.acknowledge(packet)
    }
    #expect(pair.takeFirstBytes() == [1, 2, 3, 4])
    pair.now = pair.now + .milliseconds(200)
    #expect(try creditLimit(&pair) == UInt64(2 * Self.window))
    pair.far.growWindows(roundTrip: 100_000_000, at: pair.now)
    #expect(pair.far.windowGrowthLeft == 16 << 20 - Self.window)
    #expect(try creditLimit(&pair) == UInt64(3 * Self.window))
    #expect(!pair.far.hasPending)
  }

  /// The limit in the credit frame that the far side sends next.
  private func creditLimit(_ pair: inout ChannelPair) throws -> UInt64 {
    let packet = try #require(ChannelPair.fill(&pair.far, at: pair.now))
    guard case .credit(0, let limit)? = try decodeFrames(packet.bytes).first else { return 0 }
    return limit
  }

  // MARK: The sender

  /// Uses up all but `rest` bytes of the credit of channel 0.
  private func pairWithCredit(_ rest: Int) throws -> ChannelPair {
    var pair = ChannelPair()
    try pair.send(1, length: Self.window - rest - 64)
    while let packet = pair.fill() { pair.acknowledge(packet) }
    return pair
  }

  @Test(arguments: [(575, 0), (576, 512), (1_000, 936)])
  func `the first fragment needs credit for 512 bytes and the message`(rest: Int, length: Int)
    throws
  {
    var pair = try pairWithCredit(rest)
    try pair.send(2, length: 2_000)
    #expect(pair.near.hasPending == (length > 0) && pair.near.hasUnsent)
    let packet = pair.fill()
    #expect(packet?.records.map(\.length) ?? [0] == [UInt32(length)])
    #expect(pair.fill() == nil)
  }

  @Test(arguments: [(511, 0), (512, 512), (936, 936)])
  func `a further fragment needs credit for 512 bytes`(more: Int, length: Int) throws {
    var pair = try pairWithCredit(576)
    try pair.send(2, length: 2_000)
    _ = try pair.next()
    pair.near.handleCredit(channel: 0, limit: UInt64(Self.window + more))
    let packet = pair.fill()
    #expect(packet?.records.map(\.length) ?? [0] == [UInt32(length)])
  }

  @Test(arguments: [(99, 0), (100, 100)])
  func `the last fragment needs credit for its length`(more: Int, length: Int) throws {
    var pair = try pairWithCredit(1_064)
    try pair.send(2, length: 1_100)
    // The message is longer than a packet of this size, so it counts as bulk.
    while let packet = pair.fill(limit: 1_072) { pair.acknowledge(packet) }
    pair.near.handleCredit(channel: 0, limit: UInt64(Self.window + more))
    let packet = pair.fill(limit: 1_072)
    #expect(packet?.records.map(\.length) ?? [0] == [UInt32(length)])
    if let packet { pair.acknowledge(packet) }
    #expect(pair.near.isDrained == (length > 0))
  }

  @Test(arguments: [(163, false), (164, true)])
  func `a small message needs credit for its length and 64 bytes`(rest: Int, isSent: Bool) throws {
    for delivery in [Delivery.reliableOrdered, .reliableUnordered] {
      var pair = try pairWithCredit(rest)
      try pair.send(2, length: 100, delivery)
      #expect(pair.near.hasUrgent == isSent)
      #expect((pair.fill() != nil) == isSent)
      try pair.send(3, length: 1_000, .reliableSequenced)
      try pair.send(4, length: 1_000, .unreliable)
      #expect(try pair.next().records.count == 1, "these need no credit")
    }
  }

  @Test func `messages that are sent again need no credit`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: Self.window - 64 - 164)
    var packets: [ChannelPair.Packet] = []
    while let packet = pair.fill() { packets.append(packet) }
    try pair.send(2, length: 100)
    packets.append(try pair.next())
    for packet in packets { pair.lose(packet) }
    while let packet = pair.fill() { pair.acknowledge(packet) }
    #expect(pair.near.isDrained)
  }

  // MARK: Credit frames

  @Test func `credits come first in a packet, and those that do not fit are sent later`() throws {
    var far = ChannelSet()
    for channel in [7, 3] as [UInt8] { far.scheduleCredit(far.index(ofChannel: channel)) }
    #expect(far.hasUrgent && far.hasPending)
    #expect(ChannelPair.fill(&far, limit: 3, at: .zero) == nil && far.hasUrgent)
    let message: [UInt8] = [9]
    try far.send(message.span, on: 1, SendOptions(.reliableOrdered), at: .zero)
    let packet = try #require(ChannelPair.fill(&far, at: .zero))
    #expect(
      try decodeFrames(packet.bytes) == [
        .credit(7, 262_144), .credit(3, 262_144), .message(.reliableOrdered, 1, 0, [9]),
      ])
    #expect(packet.records.map(\.kind) == [.credit, .credit, .reliable] && !far.hasPending)
    // A lost credit is sent again, once, for its channel only.
    far.handleLost(packet.records[1], at: .zero)
    far.scheduleCredit(far.index(ofChannel: 3))
    let again = try #require(ChannelPair.fill(&far, at: .zero))
    #expect(try decodeFrames(again.bytes) == [.credit(3, 262_144)] && !far.hasPending)
    far.handleAcknowledged(again.records[0], at: .zero)
    #expect(!far.hasPending)
  }
}
