import CaromCore
import Testing

@testable import CaromProtocol

/// Tests of the receiving side's bounds: credit, reassembly and unread messages.
@Suite struct ChannelCreditTests {
  @Test func `an owner that reads nothing stops the sender without losing messages`() throws {
    for delivery in [Delivery.reliableOrdered, .reliableUnordered] {
      var pair = ChannelPair()
      let charge = 1024
      let length = charge - ChannelLimits.messageCharge
      for _ in 0..<1000 { try pair.send(1, length: length, delivery) }
      try pair.exchange()
      #expect(pair.far.statistics.messagesReceived == UInt64(ChannelLimits.window / charge))
      #expect(!pair.near.hasPending && !pair.near.isDrained)
      var taken = 0
      while !pair.near.isDrained {
        taken += pair.take().count
        try pair.exchange()
      }
      #expect(taken + pair.take().count == 1000)
    }
  }

  @Test func `a blocked channel does not block other channels`() throws {
    var pair = ChannelPair()
    for _ in 0..<500 { try pair.send(1, length: 1000) }
    try pair.exchange()
    try pair.send(2, on: 1)
    try pair.send(3, on: 0, .unreliable)
    try pair.send(4, on: 0, .reliableSequenced)
    try pair.exchange()
    #expect(pair.take().map { $0.bytes[0] }.filter { $0 > 1 }.sorted() == [2, 3, 4])
  }

  @Test func `a message longer than the window arrives`() throws {
    for delivery in [Delivery.reliableOrdered, .reliableUnordered] {
      var pair = ChannelPair()
      for byte in 1...2 { try pair.send(UInt8(byte), length: 500_000, delivery) }
      var taken: [UInt8] = []
      while !pair.near.isDrained {
        try pair.exchange()
        taken += pair.takeFirstBytes()
      }
      #expect(taken + pair.takeFirstBytes() == [1, 2])
    }
  }

  @Test func `credit is sent whenever a quarter of the window was read`() throws {
    var pair = ChannelPair()
    var credits = 0
    for _ in 0..<100 {
      try pair.send(1, length: 3000)
      while let packet = pair.fill() {
        try pair.deliver(packet)
        pair.acknowledge(packet)
      }
      _ = pair.take()
      guard let answer = ChannelPair.fill(&pair.far, at: pair.now) else { continue }
      try ChannelPair.deliver(answer, to: &pair.near, at: pair.now)
      credits += 1
    }
    #expect(credits == 100 * 3064 / (ChannelLimits.window / 4))
  }

  @Test func `a lost credit is sent again`() throws {
    var pair = ChannelPair()
    for _ in 0..<400 { try pair.send(1, length: 1000) }
    while let packet = pair.fill() {
      try pair.deliver(packet)
      pair.acknowledge(packet)
    }
    #expect(pair.take().count == 246)
    let lost = try #require(ChannelPair.fill(&pair.far, at: pair.now))
    for record in lost.records { pair.far.handleLost(record, at: pair.now) }
    let again = try #require(ChannelPair.fill(&pair.far, at: pair.now))
    #expect(again.bytes == lost.bytes)
    try ChannelPair.deliver(again, to: &pair.near, at: pair.now)
    try pair.exchange()
    #expect(pair.take().count == 154)
  }

  @Test func `the credit of a fragmented message that arrives whole is not reserved any longer`()
    throws
  {
    for delivery in [Delivery.reliableOrdered, .reliableUnordered] {
      var pair = ChannelPair()
      try pair.deliver(try makeFragment(0, total: 100_000, offset: 0, delivery))
      let credit = try #require(pair.far.channels.last?.credit)
      #expect(credit.reserved == 100_000)
      let bytes = [UInt8](repeating: 7, count: 100_000)
      var writer = FrameWriter(limit: 200_000)
      let isWritten = writer.appendMessage(delivery, channel: 0, number: 0, bytes.span)
      #expect(isWritten)
      try pair.deliver(ChannelPair.Packet(bytes: writer.takeBytes(), records: []))
      #expect(pair.takeFirstBytes() == [7] && pair.far.channels.last?.credit.reserved == 0)
      #expect(pair.far.channels.last?.credit.received == 100_064)
    }
  }

  @Test func `exceeding the credit is a violation`() throws {
    var pair = ChannelPair()
    pair.near.handleCredit(channel: 0, limit: .max)
    for _ in 0..<300 { try pair.send(1, length: 1000) }
    #expect(throws: DecodeError.self) {
      while let packet = pair.fill() { try pair.deliver(packet) }
    }
    #expect(pair.take().count == ChannelLimits.window / 1064)
  }

  @Test func `a window that is used up within two round trips doubles, up to the bound`() {
    var credit = ReceiveCredit()
    var now = Instant.zero
    let roundTrip: Int64 = 1_000_000
    for step in 0..<8 {
      now = now.advanced(byNanoseconds: 2 * roundTrip)
      _ = credit.consume(credit.window - (step == 3 ? 1 : 0))
      _ = credit.grow(roundTrip: roundTrip, room: .max, at: now)
    }
    #expect(credit.window == ChannelLimits.grownWindow)
    now = now.advanced(byNanoseconds: 2 * roundTrip)
    _ = credit.consume(credit.window)
    #expect(credit.grow(roundTrip: roundTrip, room: .max, at: now) == 0)
  }

  @Test func `a window that is not used up does not grow`() {
    var credit = ReceiveCredit()
    for step in 1...8 {
      _ = credit.consume(credit.window - 1)
      #expect(
        credit.grow(roundTrip: 1_000_000, room: .max, at: .zero + .milliseconds(2 * step)) == 0)
    }
  }

  @Test func `the total growth of all windows of a connection is bounded`() {
    var set = ChannelSet()
    for step in 1...8 {
      for channel in 0..<UInt8(16) {
        let index = set.index(ofChannel: channel)
        _ = set.channels[index].credit.consume(set.channels[index].credit.window)
        set.hasReturnedCredit = true
      }
      set.growWindows(roundTrip: 1_000_000, at: .zero + .milliseconds(2 * step))
    }
    #expect(set.windowGrowthLeft == 0)
    let windows = set.channels.map(\.credit.window)
    #expect(windows.reduce(0, +) == 16 * ChannelLimits.window + ChannelLimits.windowGrowth)
  }

  @Test func `exceeding the bound on bytes under reassembly is a violation`() throws {
    var far = ChannelSet()
    let messages = ChannelLimits.reassemblyBytes / (1 << 20)
    for number in 0...messages {
      let bytes = try makeFragment(UInt64(number), total: 1 << 20, offset: 0)
      if number < messages {
        try ChannelPair.deliver(bytes, to: &far, at: .zero)
      } else {
        #expect(throws: DecodeError.self) { try ChannelPair.deliver(bytes, to: &far, at: .zero) }
      }
    }
    #expect(far.heldBytes == ChannelLimits.reassemblyBytes)
  }

  @Test func `a message with too many gaps is a violation`() throws {
    var far = ChannelSet()
    for index in 0...ChannelLimits.reassemblyRanges {
      let bytes = try makeFragment(0, total: 1 << 20, offset: 2 * index)
      if index < ChannelLimits.reassemblyRanges {
        try ChannelPair.deliver(bytes, to: &far, at: .zero)
      } else {
        #expect(throws: DecodeError.self) { try ChannelPair.deliver(bytes, to: &far, at: .zero) }
      }
    }
  }

  @Test func `fragments that disagree on the length are a violation`() throws {
    for delivery in [Delivery.reliableOrdered, .reliableUnordered, .reliableSequenced] {
      var far = ChannelSet()
      try ChannelPair.deliver(
        try makeFragment(0, total: 2000, offset: 0, delivery), to: &far, at: .zero)
      let other = try makeFragment(0, total: 3000, offset: 0, delivery)
      #expect(throws: DecodeError.self) { try ChannelPair.deliver(other, to: &far, at: .zero) }
    }
  }

  @Test func `a message number beyond the window is a violation`() throws {
    for delivery in [Delivery.reliableOrdered, .reliableUnordered] {
      var far = ChannelSet()
      let last = UInt64(ChannelLimits.outstandingMessages)
      try ChannelPair.deliver(
        try makeFragment(last - 1, total: 10, offset: 0, delivery), to: &far, at: .zero)
      let beyond = try makeFragment(last, total: 10, offset: 0, delivery)
      #expect(throws: DecodeError.self) { try ChannelPair.deliver(beyond, to: &far, at: .zero) }
    }
  }

  @Test func `a message that is too long for its delivery is a violation`() throws {
    for delivery in [Delivery.unreliable, .unreliableSequenced, .reliableSequenced] {
      var far = ChannelSet()
      let bytes = try makeFragment(0, total: ChannelLimits.latestLength + 1, offset: 0, delivery)
      #expect(throws: DecodeError.self) { try ChannelPair.deliver(bytes, to: &far, at: .zero) }
    }
  }

  @Test func `the oldest of too many fragmented unreliable messages is discarded`() throws {
    var pair = ChannelPair()
    let count = ChannelLimits.unreliableReassemblies + 1
    var packets: [[ChannelPair.Packet]] = []
    for byte in 0..<count {
      try pair.send(UInt8(byte), length: 2000, on: UInt8(byte % 2), .unreliable)
      packets.append([try pair.next(), try pair.next()])
    }
    for packet in packets { try pair.deliver(packet[0]) }
    #expect(pair.far.statistics.incomplete == 1)
    for packet in packets.reversed() { try pair.deliver(packet[1]) }
    #expect(pair.takeFirstBytes() == [4, 3, 2, 1])
  }

  @Test func `only the oldest and the newest fragmented sequenced messages are kept`() throws {
    var pair = ChannelPair()
    var packets: [[ChannelPair.Packet]] = []
    for byte in 0..<4 {
      try pair.send(UInt8(byte), length: 2000, .reliableSequenced)
      packets.append([try pair.next(), try pair.next()])
    }
    for packet in packets { try pair.deliver(packet[0]) }
    try pair.deliver(packets[1][1])
    #expect(pair.takeFirstBytes() == [])
    try pair.deliver(packets[0][1])
    #expect(pair.takeFirstBytes() == [0])
    try pair.deliver(packets[3][1])
    #expect(pair.takeFirstBytes() == [3])
  }

  @Test func `unreliable messages beyond the bound on unread messages are dropped`() throws {
    var pair = ChannelPair()
    for _ in 0..<300 {
      try pair.send(1, length: 1024, .unreliable)
      try pair.exchange()
    }
    #expect(pair.take().count == ChannelLimits.unreliableReceiveBytes / 1024)
    for _ in 0..<ChannelLimits.unreliableReceiveMessages + 9 {
      try pair.send(1, length: 0, .unreliable)
      try pair.exchange()
    }
    #expect(pair.take().count == ChannelLimits.unreliableReceiveMessages)
  }

  private func makeFragment(
    _ number: UInt64, total: Int, offset: Int, _ delivery: Delivery = .reliableUnordered
  ) throws -> ChannelPair.Packet {
    var writer = FrameWriter(limit: 100)
    let byte: [UInt8] = [7]
    let isWritten = writer.appendFragment(
      delivery, channel: 0, number: number, total: total, offset: offset, byte.span)
    guard isWritten else { throw ChannelPair.NothingToSend() }
    return ChannelPair.Packet(bytes: writer.takeBytes(), records: [])
  }
}
