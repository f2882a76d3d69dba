import CaromCore
import CaromProtocol
import Testing

@Suite struct ChannelShareTests {
  /// Reads all messages at the far side and returns their channels, in order.
  private func channels(_ pair: inout ChannelPair) -> [UInt8] { pair.take().map(\.channel) }

  @Test
  func `a channel is served only while channels of lower priority numbers have nothing to send`()
    throws
  {
    var pair = ChannelPair()
    for channel in 0..<UInt8(4) {
      pair.near.setPlan(ChannelPlan(priority: 7 - channel), for: channel)
      for _ in 0..<3 { try pair.send(channel, length: 700, on: channel) }
    }
    try pair.exchange()
    #expect(channels(&pair) == [3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0])
  }

  @Test func `channels of one priority share by weight`() throws {
    var pair = ChannelPair()
    pair.near.setPlan(ChannelPlan(weight: 3), for: 1)
    for channel in 0..<UInt8(2) {
      for _ in 0..<1000 { try pair.send(channel, length: 250, on: channel) }
    }
    try pair.exchange(most: 200)
    let heavy = channels(&pair).count { $0 == 1 }
    #expect((570...630).contains(heavy))
  }

  @Test func `bulk and small messages of one priority share by weight`() throws {
    var pair = ChannelPair()
    for _ in 0..<2000 { try pair.send(0, length: 500, on: 0) }
    for _ in 0..<20 { try pair.send(1, length: 100_000, on: 1, .reliableUnordered) }
    try pair.exchange(most: 400)
    let bytes = pair.take().filter { $0.channel == 0 }.count * 500
    #expect((190_000...260_000).contains(bytes))
  }

  @Test func `a small message does not wait for bulk of its own priority`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 1_000_000, on: 1)
    try pair.exchange(most: 20)
    for round in 0..<50 {
      try pair.send(UInt8(round), length: 60, on: 0)
      try pair.exchange(most: 1)
      #expect(pair.takeFirstBytes() == [UInt8(round)])
      try pair.exchange(most: 2)
    }
  }

  @Test func `small messages are sent while bulk is excluded`() throws {
    for delivery in [Delivery.reliableUnordered, .unreliable] {
      var pair = ChannelPair()
      try pair.send(1, length: 40_000, delivery)
      try pair.send(2, delivery)
      try pair.send(3, on: 1, .reliableOrdered)
      try pair.send(4, length: 40_000, on: 2, .reliableOrdered)
      try pair.send(5, on: 2, .reliableOrdered)
      #expect(pair.near.hasUrgent)
      try pair.deliver(try pair.next(includeBulk: false))
      #expect(pair.takeFirstBytes().sorted() == [2, 3])
      #expect(!pair.near.hasUrgent && pair.near.hasPending)
      #expect(pair.fill(includeBulk: false) == nil)
    }
  }

  @Test func `small messages of an unordered channel overtake its partly sent bulk`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 40_000, .reliableUnordered)
    try pair.exchange(most: 3)
    try pair.send(2, .reliableUnordered)
    try pair.deliver(try pair.next(includeBulk: false))
    #expect(pair.takeFirstBytes() == [2])
    try pair.exchange()
    #expect(pair.takeFirstBytes() == [1])
  }

  @Test func `reliable messages are sent while unreliable ones are excluded`() throws {
    var pair = ChannelPair()
    try pair.send(1, .unreliable)
    try pair.send(2, on: 1, .reliableOrdered)
    try pair.deliver(try pair.next(includeLatest: false))
    #expect(pair.takeFirstBytes() == [2])
    #expect(pair.fill(includeLatest: false) == nil)
    try pair.exchange()
    #expect(pair.takeFirstBytes() == [1])
  }

  @Test func `a packet is filled with smaller messages of other channels when one does not fit`()
    throws
  {
    var pair = ChannelPair()
    try pair.send(1, length: 800, on: 0)
    try pair.send(2, length: 800, on: 1)
    try pair.send(3, length: 100, on: 2)
    try pair.deliver(try pair.next())
    #expect(pair.takeFirstBytes() == [1, 3])
    try pair.exchange()
    #expect(pair.takeFirstBytes() == [2])
  }

  @Test func `a message that no longer fits a packet is fragmented`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 8000)
    let large = try pair.next(limit: 9000)
    pair.lose(large)
    #expect(try pair.exchange(limit: 1200) == 7)
    #expect(pair.take().map(\.bytes) == [[UInt8](repeating: 1, count: 8000)])
    #expect(pair.near.isDrained)
  }

  @Test func `a whole message replaces its own partial reassembly`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 8000)
    let whole = try pair.next(limit: 9000)
    pair.lose(whole)
    let fragment = try pair.next()
    try pair.deliver(fragment)
    try pair.deliver(whole)
    #expect(pair.takeFirstBytes() == [1])
    pair.acknowledge(fragment)
    try pair.exchange()
    #expect(pair.takeFirstBytes() == [] && pair.near.isDrained)
  }

  @Test func `lost fragments are sent again in packets of another size`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 30_000)
    var packets: [ChannelPair.Packet] = []
    while let packet = pair.fill(limit: 1472) { packets.append(packet) }
    for packet in packets { pair.lose(packet) }
    try pair.exchange(limit: 700)
    #expect(pair.take().map(\.bytes) == [[UInt8](repeating: 1, count: 30_000)])
    #expect(pair.near.isDrained)
  }
}
