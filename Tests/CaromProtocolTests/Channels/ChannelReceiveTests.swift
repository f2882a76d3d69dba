import CaromCore
import Testing

@testable import CaromProtocol

/// What a receiver does with messages that arrive twice, late or in part, and with a slow reader.
@Suite struct ChannelReceiveTests {
  private static let reliable: [Delivery] = [.reliableOrdered, .reliableUnordered]
  private static let sequenced: [Delivery] = [.unreliableSequenced, .reliableSequenced]

  /// Byte `offset` of a message of `total` bytes, all of which are the message's number.
  private func part(
    _ delivery: Delivery, _ number: UInt64, at offset: Int, of total: Int = 2, channel: UInt8 = 0
  ) -> FrameValue {
    .fragment(delivery, channel, number, of: total, at: offset, [UInt8(number & 0xFF)])
  }

  // MARK: Duplicates

  @Test(arguments: reliable)
  func `a reliable message arrives once, however often its packets do`(delivery: Delivery) throws {
    var pair = ChannelPair()
    for _ in 0..<2 {
      try receive(.filled(delivery, 1), in: &pair.far)
      try receive(part(delivery, 2, at: 0), in: &pair.far)
    }
    #expect(pair.far.statistics.stale == 1, "a fragment may be part of a larger one")
    try receive(part(delivery, 2, at: 1), in: &pair.far)
    try receive(part(delivery, 2, at: 1), .filled(delivery, 2, length: 2), in: &pair.far)
    #expect(pair.far.statistics.stale == 3)
    try receive(.filled(delivery, 0), in: &pair.far)
    for number in 0...2 as ClosedRange<UInt64> {
      try receive(.filled(delivery, number), in: &pair.far)
    }
    #expect(pair.far.statistics.stale == 6 && pair.far.statistics.messagesReceived == 3)
    #expect(pair.takeFirstBytes() == (delivery == .reliableOrdered ? [0, 1, 2] : [1, 2, 0]))
  }

  @Test func `an unreliable message may arrive twice`() throws {
    var pair = ChannelPair()
    for _ in 0..<2 { try receive(.filled(.unreliable, 0), in: &pair.far) }
    #expect(pair.take().count == 2 && pair.far.statistics.stale == 0)
  }

  @Test(arguments: sequenced)
  func `an older message or a second copy is stale, in whole or in part`(delivery: Delivery) throws
  {
    var pair = ChannelPair()
    try receive(part(delivery, 3, at: 0), .filled(delivery, 5), in: &pair.far)
    #expect(pair.far.statistics.incomplete == 1, "the older message is never completed")
    try receive(.filled(delivery, 5), .filled(delivery, 4), part(delivery, 3, at: 1), in: &pair.far)
    #expect(pair.takeFirstBytes() == [5] && pair.far.statistics.stale == 3)
    // A newer message takes the place of an unread one.
    try receive(.filled(delivery, 6), .filled(delivery, 8), in: &pair.far)
    #expect(pair.far.statistics.stale == 4 && pair.far.statistics.messagesReceived == 3)
    #expect(pair.takeFirstBytes() == [8])
    try receive(.filled(delivery, 9), in: &pair.far)
    #expect(pair.takeFirstBytes() == [9] && pair.far.statistics.stale == 4)
  }

  @Test(arguments: sequenced)
  func `a fragmented message ends the older ones when it is complete`(delivery: Delivery) throws {
    var pair = ChannelPair()
    try receive(part(delivery, 1, at: 0), part(delivery, 2, at: 0), in: &pair.far)
    try receive(part(delivery, 2, at: 1), in: &pair.far)
    #expect(pair.takeFirstBytes() == [2] && pair.far.statistics.incomplete == 1)
    try receive(part(delivery, 1, at: 1), .filled(delivery, 2), in: &pair.far)
    #expect(pair.takeFirstBytes() == [] && pair.far.statistics.stale == 2)
    // An older message may still be completed before a newer one.
    try receive(part(delivery, 4, at: 0), part(delivery, 3, at: 0), in: &pair.far)
    try receive(part(delivery, 3, at: 1), in: &pair.far)
    #expect(pair.takeFirstBytes() == [3])
    try receive(part(delivery, 4, at: 1), in: &pair.far)
    #expect(pair.takeFirstBytes() == [4] && pair.far.statistics.incomplete == 1)
  }

  @Test func `of two partial sequenced messages a newer one replaces the newer`() throws {
    var pair = ChannelPair()
    let delivery = Delivery.reliableSequenced
    for number in [3, 5, 7] as [UInt64] {
      try receive(part(delivery, number, at: 0), in: &pair.far)
    }
    #expect(pair.far.statistics.incomplete == 1, "message 5 makes room for message 7")
    for number in [2, 4, 6] as [UInt64] {
      try receive(part(delivery, number, at: 0), in: &pair.far)
    }
    #expect(pair.far.statistics.incomplete == 1 && pair.far.statistics.stale == 3)
    try receive(part(delivery, 3, at: 1), in: &pair.far)
    #expect(pair.takeFirstBytes() == [3])
    // The newest is the oldest one now, and there is room for another.
    try receive(part(delivery, 9, at: 0), part(delivery, 7, at: 1), in: &pair.far)
    #expect(pair.takeFirstBytes() == [7])
    try receive(part(delivery, 9, at: 1), in: &pair.far)
    #expect(pair.takeFirstBytes() == [9] && pair.far.statistics.incomplete == 1)
  }

  @Test(arguments: sequenced)
  func `the reassembly of each channel and delivery is separate`(delivery: Delivery) throws {
    var pair = ChannelPair()
    for channel in 0..<2 as Range<UInt8> {
      try receive(part(delivery, 1, at: 0, channel: channel), in: &pair.far)
      try receive(part(.unreliable, 1, at: 0, channel: channel), in: &pair.far)
    }
    try receive(.filled(delivery, 2, channel: 1), in: &pair.far)
    try receive(part(.unreliable, 1, at: 1, channel: 1), part(delivery, 1, at: 1), in: &pair.far)
    #expect(pair.take().map(\.channel) == [1, 1, 0] && pair.far.statistics.incomplete == 1)
  }

  @Test func `an unreliable number is used again with a message of another length`() throws {
    var pair = ChannelPair()
    try receive(part(.unreliable, 7, at: 0, of: 2), in: &pair.far)
    try receive(
      part(.unreliable, 7, at: 1, of: 3), part(.unreliable, 7, at: 0, of: 3), in: &pair.far)
    #expect(pair.take().isEmpty && pair.far.statistics.incomplete == 1)
    try receive(part(.unreliable, 7, at: 2, of: 3), in: &pair.far)
    #expect(pair.take().map(\.bytes) == [[7, 7, 7]])
  }

  @Test(arguments: Delivery.allCases)
  func `the memory of a message is free once it was read`(delivery: Delivery) throws {
    var pair = ChannelPair()
    for number in 0..<40 as Range<UInt64> {
      try receive(part(delivery, 2 * number, at: 0), in: &pair.far)
      try receive(part(delivery, 2 * number, at: 1), in: &pair.far)
      try receive(.filled(delivery, 2 * number + 1, length: 60), in: &pair.far)
      if number % 4 == 3 { _ = pair.take() }
    }
    #expect(pair.far.sendState.arena.usedBytes == 0 && pair.far.heldBytes <= 8 * 64 + 64)
    #expect(pair.far.reassemblies.reliableBytes == 0 && !pair.far.hasMessages)
  }

  // MARK: Unread messages

  @Test func `an unread unreliable message makes room when it is read`() throws {
    var pair = ChannelPair()
    for _ in 0..<4 { try receive(.filled(.unreliable, 0, length: 65_536), in: &pair.far) }
    try receive(
      .filled(.unreliable, 1, length: 1), .filled(.unreliable, 2, length: 0), in: &pair.far)
    #expect(pair.far.statistics.incomplete == 1, "an empty message still has room")
    #expect(pair.take(1).count == 1)
    try receive(.filled(.unreliable, 3, length: 65_536), .filled(.unreliable, 4), in: &pair.far)
    #expect(pair.take().map(\.bytes.count).last == 65_536 && pair.far.statistics.incomplete == 2)
    for _ in 0..<4_096 { try receive(.filled(.unreliable, 5, length: 1), in: &pair.far) }
    #expect(pair.far.statistics.incomplete == 2)
    try receive(.filled(.unreliable, 6, length: 0), in: &pair.far)
    #expect(pair.take().count == 4_096 && pair.far.statistics.incomplete == 3)
  }

  @Test func `the newest sequenced message replaces an unread one even if there is no room`() throws
  {
    var pair = ChannelPair()
    try receive(.filled(.unreliableSequenced, 1, length: 100), in: &pair.far)
    for _ in 0..<4_095 { try receive(.filled(.unreliable, 0, length: 0), in: &pair.far) }
    try receive(.filled(.unreliableSequenced, 2, channel: 1), in: &pair.far)
    #expect(pair.far.statistics.incomplete == 1)
    try receive(.filled(.unreliableSequenced, 3, length: 200), in: &pair.far)
    #expect(pair.far.statistics.incomplete == 1)
    #expect(pair.take(1).map(\.bytes) == [[UInt8](repeating: 3, count: 200)])
    try receive(.filled(.unreliableSequenced, 4, channel: 1), in: &pair.far)
    #expect(pair.take().last?.bytes == [4] && pair.far.statistics.incomplete == 1)
  }

  @Test func `reliable messages do not count against the unread unreliable ones`() throws {
    var pair = ChannelPair()
    for number in 0..<100 as Range<UInt64> {
      try receive(.filled(.reliableOrdered, number, length: 2_000), in: &pair.far)
      try receive(.filled(.reliableSequenced, number, length: 2_000), in: &pair.far)
    }
    #expect(pair.far.unreliableReadyBytes == 0 && pair.far.unreliableReadyCount == 0)
    #expect(pair.take().count == 101)
    #expect(pair.far.unreliableReadyBytes == 0 && pair.far.unreliableReadyCount == 0)
  }

  // MARK: Parking

  /// Reads the far side's messages, except for the reliable ones of the given channels.
  private func take(parking channels: UInt8..., in pair: inout ChannelPair) -> [UInt8] {
    var (mask, bytes) = (ChannelMask(), [UInt8]())
    for channel in channels { mask.insert(channel) }
    while pair.far.pollMessage(parking: mask, { bytes.append($2[0]) }) {}
    return bytes
  }

  @Test func `messages that need no credit do not wait for a slow reader`() throws {
    var pair = ChannelPair()
    for delivery in Delivery.allCases { try pair.send(delivery.rawValue, delivery) }
    try pair.exchange()
    #expect(take(parking: 0, in: &pair).sorted() == [0, 1, 4] && pair.far.hasMessages)
    #expect(take(parking: 1, in: &pair).sorted() == [2, 3] && !pair.far.hasMessages)
  }

  @Test func `parked messages keep their order and precede later ones`() throws {
    var pair = ChannelPair()
    for byte in 1...3 as ClosedRange<UInt8> { try pair.send(byte, on: 1) }
    try pair.send(20, on: 2)
    try pair.exchange()
    #expect(take(parking: 1, 2, in: &pair) == [])
    for byte in 4...5 as ClosedRange<UInt8> { try pair.send(byte, on: 1) }
    try pair.send(30, on: 3)
    try pair.exchange()
    #expect(take(parking: 1, 2, in: &pair) == [30])
    #expect(take(parking: 2, in: &pair) == [1, 2, 3, 4, 5])
    #expect(take(in: &pair) == [20] && !pair.far.hasMessages)
  }

  @Test func `the credit of parked messages is not returned until they are read`() throws {
    var pair = ChannelPair()
    for _ in 0..<400 { try pair.send(1, length: 1_000) }
    try pair.exchange()
    #expect(take(parking: 0, in: &pair) == [])
    try pair.exchange()
    #expect(!pair.near.hasPending && pair.far.statistics.messagesReceived == 246)
    #expect(take(in: &pair).count == 246)
    try pair.exchange()
    #expect(pair.near.isDrained && pair.far.statistics.messagesReceived == 400)
  }

  // MARK: The session's own channel

  @Test func `messages of the session's own channel are read in order, even invalid ones`() throws {
    var pair = ChannelPair()
    #expect(!pair.far.hasSessionMessage)
    try pair.send(0xFF, length: 3, on: 64)
    try pair.send(0xEE, length: 2, on: 64)
    try pair.exchange()
    #expect(pair.far.hasSessionMessage && !pair.far.hasMessages)
    #expect(pair.far.pollSessionMessage() == [0xFF, 0xFF, 0xFF])
    let results = (0..<2).map { _ in pair.far.pollControl() == nil }
    #expect(results == [false, true])
    #expect(!pair.far.hasSessionMessage && pair.far.sendState.arena.usedBytes == 0)
  }

  @Test func `the newest sequenced message of the session's own channel is read`() throws {
    var pair = ChannelPair()
    for number in 1...3 as ClosedRange<UInt64> {
      for _ in 0..<2 {
        try receive(.filled(.reliableSequenced, 2 * number, channel: 64), in: &pair.far)
        try receive(.filled(.reliableSequenced, 2 * number + 1, channel: 64), in: &pair.far)
      }
      #expect(pair.far.pollSessionMessage() == [UInt8(2 * number + 1)])
      #expect(pair.far.pollSessionMessage() == nil)
    }
  }
}
