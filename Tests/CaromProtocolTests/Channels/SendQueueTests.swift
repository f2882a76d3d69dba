import CaromCore
import Testing

@testable import CaromProtocol

/// The queues of messages to send: their counters, deadlines and limits.
@Suite struct SendQueueTests {
  private static let charge = ChannelLimits.messageCharge

  // MARK: Counters

  @Test func `reliable messages count until they are acknowledged, with 64 bytes each`() throws {
    var pair = ChannelPair()
    #expect(pair.near.queuedBytes == 0 && pair.near.pendingBytes == 0 && pair.near.isDrained)
    try pair.send(1, length: 100)
    try pair.send(2, length: 2_000, .reliableUnordered)
    try pair.send(3, length: 50, .unreliable)
    #expect(pair.near.queuedBytes == 2_100 + 2 * Self.charge && pair.near.pendingBytes == 2_150)
    let first = try pair.next()
    // The first message, and a fragment of the second.
    let sent = first.records.reduce(0) { $0 + Int($1.length) }
    #expect(first.records.count == 2 && sent > 512)
    #expect(pair.near.queuedBytes == 2_100 + 2 * Self.charge)
    #expect(pair.near.pendingBytes == 2_050 - sent)
    let second = try pair.next()
    #expect(pair.near.pendingBytes == 0 && !pair.near.hasUnsent && !pair.near.isDrained)
    pair.acknowledge(first)
    #expect(pair.near.queuedBytes == 2_000 + Self.charge)
    pair.lose(second)
    #expect(pair.near.pendingBytes == 0 && pair.near.hasUnsent, "lost bytes were sent once")
    pair.acknowledge(try pair.next())
    #expect(pair.near.queuedBytes == 0 && pair.near.isDrained)
  }

  @Test func `each message and each frame that is sent again is counted`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 100)
    try pair.send(2, length: 3_000, on: 1)
    var packets: [ChannelPair.Packet] = []
    while let packet = pair.fill() { packets.append(packet) }
    #expect(packets.count == 3 && pair.near.statistics.resent == 0)
    for packet in packets { pair.lose(packet) }
    try pair.exchange()
    #expect(pair.near.statistics.messagesSent == 2 && pair.far.statistics.messagesReceived == 2)
    #expect(pair.near.statistics.resent == 4, "one message and three fragments")
    #expect(pair.near.statistics.redundant == 0)
  }

  @Test func `a message is numbered by the order of send, on any channel`() throws {
    var pair = ChannelPair()
    let numbers = try (0..<3).map { try pair.send(1, on: UInt8($0), .unreliable) }
    #expect(numbers == [0, 1, 2])
    #expect(throws: SendError.self) { try pair.send(1, length: 70_000, .unreliable) }
    #expect(try pair.send(1) == 3)
  }

  // MARK: Order

  @Test func `the messages of a queue keep their order, however many there are`() {
    var queue = SendQueue()
    func message(_ ticket: UInt64) -> SendMessage {
      SendMessage(ticket: ticket, deadline: .max, buffer: 0, length: 1, wantsReceipt: false)
    }
    for count in [1, 2, 5] {
      for ticket in 0..<count { queue.append(message(UInt64(ticket))) }
      #expect(queue.count == count)
      #expect((0..<count).map { queue[$0].ticket } == Array(0..<UInt64(count)))
      queue[count - 1].length = 7
      for ticket in 0..<count {
        #expect(!queue.isEmpty && queue.first?.ticket == UInt64(ticket))
        let removed = queue.popFirst()
        #expect(removed?.ticket == UInt64(ticket))
        #expect(removed?.length == (ticket == count - 1 ? 7 : 1))
      }
      let rest = queue.popFirst()
      #expect(queue.isEmpty && queue.count == 0 && rest == nil)
    }
  }

  // MARK: Deadlines

  @Test func `an expired message of any queue is reported once, before its receipt`() throws {
    for delivery in Delivery.allCases {
      for length in [1, 2_000] {
        var pair = ChannelPair()
        try pair.send(1, length: length, delivery, deadline: .milliseconds(10), wantsReceipt: true)
        #expect(pair.near.nextTimeout == .zero + .milliseconds(10))
        pair.near.handleTimeout(at: .zero + .nanoseconds(9_999_999))
        #expect(pair.events() == [])
        pair.near.handleTimeout(at: .zero + .milliseconds(10))
        #expect(
          pair.events() == [
            .expired(channel: 0, message: 0), .receipt(channel: 0, message: 0, delivered: false),
          ])
        #expect(pair.near.statistics.expired == 1 && pair.near.nextTimeout == nil)
        #expect(pair.near.queuedBytes == 0 && pair.near.pendingBytes == 0)
        pair.now = .zero + .seconds(1)
        #expect(pair.fill() == nil && !pair.near.hasPending)
        #expect(pair.events() == [])
      }
    }
  }

  @Test func `expired messages at the front of both queues are never sent`() throws {
    for length in [1, 2_000] {
      var pair = ChannelPair()
      for byte in 0..<3 as Range<UInt8> {
        try pair.send(byte, length: length, .reliableUnordered, deadline: .milliseconds(10))
      }
      try pair.send(3, length: length, .reliableUnordered)
      pair.now = .zero + .milliseconds(10)
      try pair.exchange()
      #expect(pair.takeFirstBytes() == [3] && pair.near.statistics.expired == 3)
      #expect(pair.near.isDrained && pair.near.pendingBytes == 0)
    }
  }

  @Test func `a message that expired behind others is skipped when its turn comes`() throws {
    for length in [1, 2_000] {
      var pair = ChannelPair()
      try pair.send(1, length: length, .reliableUnordered)
      try pair.send(2, length: length, .reliableUnordered, deadline: .milliseconds(10))
      try pair.send(3, length: length, .reliableUnordered, deadline: .milliseconds(11))
      pair.near.handleTimeout(at: .zero + .milliseconds(10))
      #expect(pair.events() == [.expired(channel: 0, message: 1)])
      try pair.exchange()
      #expect(pair.takeFirstBytes() == [1, 3])
      #expect(pair.events() == [])
    }
  }

  @Test func `a partly sent message does not expire`() throws {
    for delivery in [Delivery.reliableOrdered, .reliableUnordered, .unreliable] {
      var pair = ChannelPair()
      try pair.send(1, length: 3_000, delivery, deadline: .milliseconds(10))
      try pair.deliver(try pair.next())
      pair.now = .zero + .milliseconds(20)
      pair.near.handleTimeout(at: pair.now)
      try pair.exchange()
      #expect(pair.takeFirstBytes() == [1])
      #expect(pair.events() == [])
    }
  }

  @Test func `expired messages are searched for every 5 ms at most`() throws {
    var pair = ChannelPair()
    for deadline in [10, 12, 30] { try pair.send(1, deadline: .milliseconds(deadline)) }
    pair.near.handleTimeout(at: .zero + .milliseconds(10))
    #expect(pair.near.nextTimeout == .zero + .milliseconds(15))
    pair.near.handleTimeout(at: .zero + .milliseconds(14))
    #expect(pair.events() == [.expired(channel: 0, message: 0)])
    pair.near.handleTimeout(at: .zero + .milliseconds(15))
    #expect(pair.events() == [.expired(channel: 0, message: 1)])
    #expect(pair.near.nextTimeout == .zero + .milliseconds(30))
    try pair.send(1, deadline: .milliseconds(3))
    #expect(pair.near.nextTimeout == .zero + .milliseconds(20))
  }

  // MARK: Limits

  @Test func `one writable event follows a refusal, however many messages were refused`() throws {
    var pair = ChannelPair()
    pair.near.handleCredit(channel: 0, limit: .max)
    let quarter = 1 << 20 - Self.charge
    for refusals in [0, 3, 0, 1] {
      for _ in 0..<4 { try pair.send(1, length: quarter) }
      for _ in 0..<refusals { #expect(throws: SendError.self) { try pair.send(1) } }
      while let packet = pair.fill(limit: 65_536) { pair.acknowledge(packet) }
      #expect(pair.events() == (refusals > 0 ? [.writable] : []) && pair.near.isDrained)
    }
  }

  @Test func `a full queue accepts a message that takes the place of an older one`() throws {
    var pair = ChannelPair()
    let length = 1_000
    try pair.send(1, length: length, on: 1, .reliableSequenced)
    let rest = ChannelLimits.sendBytes - length - Self.charge
    for _ in 0..<3 { try pair.send(2, length: 1 << 20 - Self.charge) }
    try pair.send(2, length: rest - 3 << 20 - Self.charge)
    #expect(pair.near.queuedBytes == ChannelLimits.sendBytes)
    try pair.send(3, length: length, on: 1, .reliableSequenced)
    #expect(pair.near.queuedBytes == ChannelLimits.sendBytes && pair.near.statistics.replaced == 1)
    #expect(throws: SendError.queueFull(queued: ChannelLimits.sendBytes)) {
      try pair.send(4, length: length + 1, on: 1, .reliableSequenced)
    }
    #expect(pair.near.statistics.replaced == 1, "a refused message replaces nothing")
    try pair.deliver(try pair.next())
    #expect(pair.take().first?.bytes.first == 3)
  }

  @Test func `the oldest unreliable message is dropped, whatever its channel and length`() throws {
    var pair = ChannelPair()
    // The channel and the length of each message: 65,000 bytes in total.
    let messages: [(UInt8, Int)] = [(1, 20_000), (2, 1_000), (1, 1_000), (2, 20_000), (1, 23_000)]
    for (channel, length) in messages {
      try pair.send(0, length: length, on: channel, .unreliable, wantsReceipt: true)
    }
    #expect(pair.near.pendingBytes == 65_000 && pair.near.statistics.overflowed == 0)
    try pair.send(1, length: 536, on: 3, .unreliable)
    #expect(pair.events() == [] && pair.near.pendingBytes == 65_536)
    // One byte too many drops the oldest message, and then the next ones make room for another.
    try pair.send(1, length: 1, on: 3, .unreliable)
    #expect(pair.events() == [.receipt(channel: 1, message: 0, delivered: false)])
    try pair.send(1, length: 41_999, on: 3, .unreliable)
    #expect(
      pair.events() == [
        .receipt(channel: 2, message: 1, delivered: false),
        .receipt(channel: 1, message: 2, delivered: false),
        .receipt(channel: 2, message: 3, delivered: false),
      ])
    #expect(pair.near.statistics.overflowed == 4)
  }

  @Test func `unreliable messages make room for others as they are sent`() throws {
    for length in [1_000, 1_200] {
      var pair = ChannelPair()
      for _ in 0..<600 {
        for _ in 0..<2 { try pair.send(1, length: length, .unreliable) }
        while pair.fill() != nil {}
      }
      for _ in 0..<2 { try pair.send(1, length: 32_768, .unreliable) }
      #expect(pair.near.statistics.overflowed == 0 && pair.near.pendingBytes == 65_536)
    }
  }

  // MARK: Dropped messages

  /// The receipts of messages on channel 0 that were not delivered.
  private func undelivered(_ messages: UInt64...) -> [ChannelEvent] {
    messages.map { .receipt(channel: 0, message: $0, delivered: false) }
  }

  @Test func `dropped messages are reported as not delivered`() throws {
    for length in [1, 3_000] {
      var pair = ChannelPair()
      for delivery in Delivery.allCases {
        try pair.send(1, length: length, delivery, wantsReceipt: true)
      }
      pair.near.dropUnreliable()
      #expect(pair.events() == undelivered(0, 1))
      pair.near.dropOutgoing()
      #expect(pair.events() == undelivered(2, 3, 4))
      pair.near.dropOutgoing()
      #expect(pair.events() == [] && !pair.near.hasUnsent && pair.near.pendingBytes == 0)
    }
  }

  @Test func `sent messages are dropped too, and never repeated`() throws {
    var pair = ChannelPair()
    for delivery in [Delivery.reliableOrdered, .reliableUnordered, .reliableSequenced] {
      try pair.send(1, delivery, wantsReceipt: true)
    }
    let packet = try pair.next(redundancy: 3)
    try pair.send(2, length: 3_000)
    let begun = try pair.next(redundancy: 3)
    pair.near.dropOutgoing()
    #expect(pair.events().count == 3 && pair.near.isDrained)
    pair.lose(packet)
    pair.lose(begun)
    #expect(pair.fill(redundancy: 3) == nil && !pair.near.hasPending)
    #expect(pair.events() == [])
    // Later messages continue the numbers.
    try pair.send(3)
    #expect(try pair.next().records.map(\.number) == [2])
  }

  @Test func `the rest of a partly sent unreliable message is dropped`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 3_000, .unreliable, wantsReceipt: true)
    let begun = try pair.next()
    pair.near.dropUnreliable()
    #expect(pair.events() == undelivered(0))
    pair.acknowledge(begun)
    #expect(pair.fill() == nil && pair.near.pendingBytes == 0)
    #expect(pair.events() == [])
    try pair.send(2, length: 3_000, .unreliable)
    try pair.exchange()
    #expect(pair.takeFirstBytes() == [2])
  }

  @Test func `the outcome of a partly sent message is reported once`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 3_000, .unreliable, wantsReceipt: true)
    pair.lose(try pair.next())
    #expect(pair.events() == undelivered(0))
    pair.near.dropUnreliable()
    #expect(pair.events() == [])
    // The receipt of a message that is sent slowly makes room for newer ones.
    pair.near.setPlan(ChannelPlan(priority: 0), for: 1)
    try pair.send(2, length: 3_000, .unreliable, wantsReceipt: true)
    _ = try pair.next()
    for _ in 0..<ChannelLimits.openReceipts {
      try pair.send(3, length: 1_198, on: 1, .unreliable, wantsReceipt: true)
      // The second packet is too short for a fragment of the first message.
      for limit in [1_200, 400] { _ = try pair.next(limit: limit) }
    }
    pair.near.dropUnreliable()
    #expect(pair.events().count { $0 == undelivered(1)[0] } == 1)
  }
}
