import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct ChannelRedundancyTests {
  @Test func `small reliable messages are repeated in as many packets as requested`() throws {
    for redundancy in 0...3 {
      var pair = ChannelPair()
      for byte in 1...6 {
        try pair.send(UInt8(byte), length: 60)
        let packet = try pair.next(redundancy: Double(redundancy))
        let expected = min(redundancy, byte - 1) + 1
        #expect(packet.records.count == expected)
        if byte % (redundancy + 1) == 0 { try pair.deliver(packet) }
      }
      let count = redundancy == 0 ? 6 : 6 / (redundancy + 1) * (redundancy + 1)
      #expect(pair.takeFirstBytes() == (1...count).map { UInt8($0) })
      #expect(
        pair.near.statistics.redundant == UInt64((1...6).reduce(0) { $0 + min(redundancy, $1 - 1) })
      )
    }
  }

  @Test func `a redundancy of one half repeats the messages of every second packet`() throws {
    var pair = ChannelPair()
    let counts = try (1...8).map { byte in
      try pair.send(UInt8(byte))
      try pair.send(UInt8(byte), on: 1)
      return try pair.next(redundancy: 1.5).records.count
    }
    #expect(counts == [2, 4, 4, 6, 4, 6, 4, 6])
  }

  @Test func `no message is repeated once the redundancy is 0`() throws {
    var pair = ChannelPair()
    try pair.send(1)
    _ = try pair.next(redundancy: 3)
    #expect(pair.fill(redundancy: 0) == nil)
    #expect(pair.fill(redundancy: 3) == nil)
  }

  @Test func `redundancy rises with the loss rate`() {
    let rates = [0, 0.004, 0.01, 0.025, 0.046, 0.066, 0.1, 0.16, 0.2, 1]
    let redundancies = rates.map { Int((RedundantSends.redundancy(at: $0) * 1_000).rounded()) }
    #expect(redundancies == [0, 0, 1_000, 1_000, 1_500, 2_000, 2_000, 2_500, 3_000, 3_000])
  }

  @Test func `acknowledged and long messages are not repeated`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: ChannelLimits.redundantLength)
    try pair.send(2, length: ChannelLimits.redundantLength + 1)
    let packet = try pair.next(redundancy: 3)
    let copy = try pair.next(redundancy: 3)
    #expect(copy.records.map(\.number) == [0])
    pair.acknowledge(packet)
    #expect(pair.fill(redundancy: 3) == nil)
  }

  @Test func `a message is sent again only when all packets that contain it are lost`() throws {
    var pair = ChannelPair()
    try pair.send(1)
    let packets = try (0..<3).map { _ in try pair.next(redundancy: 2) }
    #expect(pair.fill(redundancy: 2) == nil)
    pair.lose(packets[0])
    pair.lose(packets[1])
    #expect(!pair.near.hasPending)
    pair.lose(packets[2])
    #expect(pair.near.hasUrgent)
    try pair.exchange()
    #expect(pair.takeFirstBytes() == [1] && pair.near.isDrained)
  }

  @Test func `new messages are sent before repeated ones`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 200)
    _ = try pair.next(redundancy: 1)
    try pair.send(2, length: 1100)
    let packet = try pair.next(redundancy: 1)
    #expect(packet.records.map(\.number) == [1])
    let next = try pair.next(redundancy: 1)
    #expect(next.records.map(\.number) == [0])
  }

  @Test func `a probe repeats unacknowledged messages`() throws {
    var pair = ChannelPair()
    try pair.send(1)
    try pair.send(2, on: 1, .reliableUnordered)
    let packet = try pair.next()
    var writer = FrameWriter(limit: 1200)
    var records: [FrameRecord] = []
    let hasProbe = pair.near.fillUnacknowledged(&writer, records: &records)
    #expect(hasProbe)
    try pair.deliver(ChannelPair.Packet(bytes: writer.takeBytes(), records: records))
    #expect(pair.takeFirstBytes() == [1, 2])
    pair.lose(packet)
    #expect(!pair.near.hasPending)
    for record in records { pair.near.handleAcknowledged(record, at: pair.now) }
    #expect(pair.near.isDrained)
    writer.begin(limit: 1200)
    let hasMore = pair.near.fillUnacknowledged(&writer, records: &records)
    #expect(!hasMore)
  }
}
