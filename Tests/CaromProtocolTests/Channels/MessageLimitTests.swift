import CaromCore
import Testing

@testable import CaromProtocol

/// The limits of the page WireFormat, "Messages": each is met exactly, and exceeded by one.
@Suite struct MessageLimitTests {
  private static let window = 262_144
  private static let reliable: [Delivery] = [.reliableOrdered, .reliableUnordered]
  private static let latest: [Delivery] = [.unreliable, .unreliableSequenced, .reliableSequenced]

  private func fragment(
    _ delivery: Delivery, _ number: UInt64, of total: Int, at offset: Int = 0, count: Int = 1
  ) -> FrameValue {
    let bytes = [UInt8](repeating: 7, count: count)
    return .fragment(delivery, 0, number, of: total, at: offset, bytes)
  }

  /// Checks that the peer may send exactly `rest` more bytes on channel 0, charges included. The
  /// next message has the given number.
  private func expectCredit(
    _ rest: Int, in set: ChannelSet, _ delivery: Delivery, next number: UInt64
  ) throws {
    var (exact, beyond) = (set, set)
    try receive(.filled(delivery, number, length: rest - 64), in: &exact)
    #expect(throws: DecodeError.self) {
      try receive(.filled(delivery, number + 1, length: 0), in: &exact)
    }
    #expect(throws: DecodeError.self) {
      try receive(.filled(delivery, number, length: rest - 63), in: &beyond)
    }
  }

  // MARK: Credit

  @Test(arguments: reliable)
  func `a receiver accepts 262,144 bytes without a credit frame, and not one more`(
    delivery: Delivery
  ) throws {
    try expectCredit(Self.window, in: ChannelSet(), delivery, next: 0)
    var set = ChannelSet()
    try receive(.filled(.reliableOrdered, 0, length: 1_000), in: &set)
    try receive(.filled(.reliableUnordered, 0, length: 0), in: &set)
    try receive(.filled(.reliableOrdered, 0, channel: 1, length: 1_000), in: &set)
    try receive(.filled(.reliableSequenced, 0, length: 1_000), in: &set)
    try receive(.filled(.unreliable, 0, length: 1_000), in: &set)
    try expectCredit(Self.window - 1_064 - 64, in: set, delivery, next: 1)
  }

  @Test func `a sender sends 262,144 bytes without a credit frame, and not one more`() throws {
    for (length, isSent) in [(0, true), (1, false)] {
      var pair = ChannelPair()
      try pair.send(1, length: Self.window - 128)
      try pair.send(2, length: length)
      while let packet = pair.fill() { pair.acknowledge(packet) }
      #expect(pair.near.isDrained == isSent)
    }
  }

  @Test func `a credit frame with a lower limit than an earlier one is ignored`() throws {
    for (length, isSent) in [(0, true), (1, false)] {
      var pair = ChannelPair()
      pair.near.handleCredit(channel: 0, limit: 300_000)
      for limit in [299_999, 1, 0] as [UInt64] { pair.near.handleCredit(channel: 0, limit: limit) }
      try pair.send(1, length: 300_000 - 128)
      try pair.send(2, length: length)
      while let packet = pair.fill() { pair.acknowledge(packet) }
      #expect(pair.near.isDrained == isSent)
    }
  }

  @Test(arguments: reliable)
  func `each byte of a fragmented message counts once, when it is first received`(
    delivery: Delivery
  ) throws {
    let first = fragment(delivery, 0, of: 1_000, count: 600)
    var begun = ChannelSet()
    try receive(first, in: &begun)
    try receive(first, in: &begun)
    try expectCredit(Self.window - 664, in: begun, delivery, next: 1)
    var (whole, overlapping) = (begun, begun)
    try receive(.filled(delivery, 0, length: 1_000), in: &whole)
    try receive(fragment(delivery, 0, of: 1_000, at: 500, count: 500), in: &overlapping)
    for var set in [whole, overlapping] {
      #expect(set.statistics.messagesReceived == 1)
      try receive(first, in: &set)
      try receive(.filled(delivery, 0, length: 1_000), in: &set)
      #expect(set.statistics.messagesReceived == 1)
      try expectCredit(Self.window - 1_064, in: set, delivery, next: 1)
    }
  }

  // MARK: Lengths

  @Test(arguments: latest)
  func `a receiver accepts 65,536 bytes in modes 0, 1 and 4, and not one more`(
    delivery: Delivery
  ) throws {
    for frame in [
      FrameValue.filled(delivery, 0, length: 65_536),
      fragment(delivery, 0, of: 65_536, count: 65_536),
    ] {
      var set = ChannelSet()
      try receive(frame, in: &set)
      #expect(set.statistics.messagesReceived == 1)
    }
    for frame in [
      FrameValue.filled(delivery, 0, length: 65_537), fragment(delivery, 0, of: 65_537),
    ] {
      var set = ChannelSet()
      #expect(throws: DecodeError.tooLarge(length: 65_537, limit: 65_536)) {
        try receive(frame, in: &set)
      }
    }
  }

  // MARK: Numbers

  @Test(arguments: reliable)
  func `a number of 4,096 or more above the lowest missing one is malformed`(delivery: Delivery)
    throws
  {
    var set = ChannelSet()
    // No number is below 0, so 65,535 is far above the lowest missing one.
    for number in 0...1 as ClosedRange<UInt64> {
      for far in [4_096, 32_767, 32_768, 65_535 - number] as [UInt64] {
        #expect(throws: DecodeError.self) { try receive(.filled(delivery, number + far), in: &set) }
      }
      try receive(.filled(delivery, number + 4_095), in: &set)
      try receive(.filled(delivery, number), in: &set)
    }
    // Both numbers are below the expected number 2.
    try receive(.filled(delivery, 0), in: &set)
    try receive(.filled(delivery, 1), in: &set)
    #expect(set.statistics.stale == 2)
  }

  @Test(arguments: [Delivery.unreliableSequenced, .reliableSequenced])
  func `a sequenced number is the nearest to the expected one, and of two the greater`(
    delivery: Delivery
  ) throws {
    var set = ChannelSet()
    // The message, and the number of messages delivered after it. Nothing is below 0, so the first
    // message is newer than the expected number 0.
    let rows: [(UInt64, UInt64)] = [
      (40_000, 1), (40_000, 1), (39_999, 1), (40_001 + 32_769, 1), (40_001 + 32_768, 2),
      (72_770 + 32_768, 3), (105_539 + 32_767, 4),
    ]
    for (number, count) in rows {
      try receive(.filled(delivery, number), in: &set)
      #expect(set.statistics.messagesReceived == count, "\(number)")
    }
  }

  // MARK: Incomplete messages

  @Test func `four incomplete messages of modes 0 and 1 are stored, and not a fifth`() throws {
    for (count, arriving) in [(4, [3, 2, 1, 0]), (5, [4, 3, 2, 1])] as [(UInt8, [UInt8])] {
      var pair = ChannelPair()
      for channel in 0..<count { try receive(half(channel, at: 0), in: &pair.far) }
      for channel in (0..<count).reversed() { try receive(half(channel, at: 1), in: &pair.far) }
      #expect(pair.take().map(\.channel) == arriving)
    }
  }

  /// Half of a message of two bytes. The modes of the channels alternate.
  private func half(_ channel: UInt8, at offset: Int) -> FrameValue {
    let delivery: Delivery = channel % 2 == 0 ? .unreliable : .unreliableSequenced
    return .fragment(delivery, channel, 0, of: 2, at: offset, [channel])
  }

  @Test func `incomplete messages have at most 8,388,608 bytes in total`() throws {
    var set = ChannelSet()
    for number in 0..<8 as Range<UInt64> {
      let total = number < 7 ? 1_048_576 : 1_048_575
      try receive(fragment(.reliableUnordered, number, of: total), in: &set)
    }
    var beyond = set
    #expect(throws: DecodeError.self) {
      try receive(fragment(.reliableUnordered, 8, of: 2), in: &beyond)
    }
    try receive(fragment(.reliableUnordered, 8, of: 1), in: &set)
    #expect(set.statistics.messagesReceived == 1)
  }
}
