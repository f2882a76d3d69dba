import CaromCore
import CaromProtocol
import Testing

@Suite struct ChannelDeliveryTests {
  @Test func `small messages share a packet`() throws {
    var pair = ChannelPair()
    for byte in 1...15 { try pair.send(UInt8(byte), length: 60) }
    let packet = try pair.next()
    try pair.deliver(packet)
    #expect(pair.takeFirstBytes() == Array(1...15))
    // Only the first frame contains a channel and a number; the others continue its sequence.
    #expect(packet.bytes.count == 15 * 62 + 2)
    #expect(pair.fill() == nil)
  }

  @Test func `only an ordered message waits for the message before it`() throws {
    for (delivery, expected) in [(Delivery.reliableOrdered, [UInt8]()), (.reliableUnordered, [2])] {
      var pair = ChannelPair()
      try pair.send(1, delivery)
      let first = try pair.next()
      try pair.send(2, delivery)
      let second = try pair.next()
      try pair.deliver(second)
      #expect(pair.takeFirstBytes() == expected)
      try pair.deliver(first)
      #expect(pair.takeFirstBytes() == (delivery == .reliableOrdered ? [1, 2] : [1]))
    }
  }

  @Test func `a lost message is sent again once and arrives once`() throws {
    for delivery in [Delivery.reliableOrdered, .reliableUnordered, .reliableSequenced] {
      var pair = ChannelPair()
      try pair.send(1, delivery)
      let first = try pair.next()
      pair.lose(first)
      let again = try pair.next()
      #expect(pair.fill() == nil)
      try pair.deliver(again)
      try pair.deliver(first)
      #expect(pair.takeFirstBytes() == [1])
      pair.acknowledge(again)
      #expect(pair.near.isDrained)
      pair.lose(again)
      pair.acknowledge(first)
      #expect(pair.near.isDrained && !pair.near.hasPending)
    }
  }

  @Test func `a newer sequenced message replaces one that has not been sent`() throws {
    for delivery in [Delivery.unreliableSequenced, .reliableSequenced] {
      var pair = ChannelPair()
      for byte in 1...5 { try pair.send(UInt8(byte), delivery, wantsReceipt: byte == 2) }
      try pair.exchange()
      #expect(pair.takeFirstBytes() == [5])
      #expect(pair.near.statistics.replaced == 4)
      #expect(pair.events() == [.receipt(channel: 0, message: 1, delivered: false)])
    }
  }

  @Test func `a partly sent message is not replaced`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 3000, .unreliableSequenced)
    let begun = try pair.next()
    try pair.deliver(begun)
    try pair.send(2, length: 3000, .unreliableSequenced)
    try pair.exchange()
    #expect(pair.near.statistics.replaced == 0)
    #expect(pair.takeFirstBytes() == [2])
    #expect(pair.far.statistics.messagesReceived == 2)
  }

  @Test func `an older sequenced message never arrives after a newer one`() throws {
    for delivery in [Delivery.unreliableSequenced, .reliableSequenced] {
      var pair = ChannelPair()
      try pair.send(1, delivery)
      let older = try pair.next()
      try pair.send(2, delivery)
      let newer = try pair.next()
      try pair.deliver(newer)
      #expect(pair.takeFirstBytes() == [2])
      try pair.deliver(older)
      #expect(pair.takeFirstBytes() == [])
    }
  }

  @Test func `the owner reads only the newest of several sequenced messages`() throws {
    var pair = ChannelPair()
    for byte in 1...3 {
      try pair.send(UInt8(byte), .unreliableSequenced)
      try pair.exchange()
    }
    #expect(pair.takeFirstBytes() == [3])
  }

  @Test func `a lost message is not sent again if a newer one was acknowledged`() throws {
    var pair = ChannelPair()
    try pair.send(1, .reliableSequenced, wantsReceipt: true)
    let older = try pair.next()
    try pair.send(2, .reliableSequenced)
    let newer = try pair.next()
    pair.acknowledge(newer)
    pair.lose(older)
    #expect(pair.fill() == nil)
    #expect(pair.near.isDrained)
    #expect(pair.events() == [.receipt(channel: 0, message: 0, delivered: false)])
  }

  @Test func `an unreliable message leaves no state behind once it is sent`() throws {
    var pair = ChannelPair()
    try pair.send(1, .unreliable)
    let packet = try pair.next()
    #expect(packet.records == [] && packet.bytes.count == 3)
    #expect(pair.near.isDrained && !pair.near.hasPending)
  }

  @Test func `a receipt reports whether a message was delivered`() throws {
    for delivery in Delivery.allCases {
      var pair = ChannelPair()
      let message = try pair.send(1, delivery, wantsReceipt: true)
      let packet = try pair.next()
      if delivery.isReliable {
        pair.lose(packet)
        #expect(pair.events() == [])
        pair.acknowledge(try pair.next())
      } else {
        pair.acknowledge(packet)
      }
      #expect(pair.events() == [.receipt(channel: 0, message: message, delivered: true)])
    }
  }

  @Test func `a fragmented unreliable message is delivered when all of its fragments are`() throws {
    var pair = ChannelPair()
    try pair.send(1, length: 3000, .unreliable, wantsReceipt: true)
    try pair.send(2, length: 3000, .unreliable, wantsReceipt: true)
    var packets: [ChannelPair.Packet] = []
    while let packet = pair.fill() { packets.append(packet) }
    for packet in packets.dropLast() { pair.acknowledge(packet) }
    #expect(pair.events() == [.receipt(channel: 0, message: 0, delivered: true)])
    pair.lose(try #require(packets.last))
    #expect(pair.events() == [.receipt(channel: 0, message: 1, delivered: false)])
  }

  @Test func `a message whose deadline passes before it is sent is dropped`() throws {
    for delivery in Delivery.allCases {
      var pair = ChannelPair()
      let message = try pair.send(1, delivery, deadline: .milliseconds(10))
      pair.now = pair.now + .milliseconds(10)
      #expect(pair.fill() == nil)
      #expect(pair.events() == [.expired(channel: 0, message: message)])
      try pair.send(2, delivery)
      try pair.exchange()
      #expect(pair.takeFirstBytes() == [2])
    }
  }

  @Test func `an expired message is reported even if nothing is sent`() throws {
    var pair = ChannelPair()
    try pair.send(1)
    try pair.send(2, deadline: .milliseconds(30))
    try pair.send(3, deadline: .milliseconds(20))
    #expect(pair.near.nextTimeout == Instant.zero + .milliseconds(20))
    pair.near.handleTimeout(at: pair.now + .milliseconds(20))
    #expect(pair.events() == [.expired(channel: 0, message: 2)])
    #expect(pair.near.nextTimeout == Instant.zero + .milliseconds(30))
    try pair.exchange()
    #expect(pair.takeFirstBytes() == [1, 2])
  }

  @Test func `a message that was sent in time no longer expires`() throws {
    var pair = ChannelPair()
    try pair.send(1, deadline: .milliseconds(10))
    let packet = try pair.next()
    pair.now = pair.now + .milliseconds(50)
    pair.near.handleTimeout(at: pair.now)
    pair.lose(packet)
    try pair.exchange()
    #expect(pair.takeFirstBytes() == [1])
    #expect(pair.near.nextTimeout == nil)
  }

  @Test func `messages of the session's own channel are read separately`() throws {
    var pair = ChannelPair()
    try pair.send(1, on: ChannelLimits.sessionChannel)
    try pair.send(2)
    let packet = try pair.next()
    // The session channel has the highest priority by default.
    #expect(packet.bytes[1] == ChannelLimits.sessionChannel)
    try pair.deliver(packet)
    #expect(pair.takeFirstBytes() == [2])
    #expect(pair.far.pollSessionMessage() == [1])
    #expect(pair.far.pollSessionMessage() == nil)
  }

  @Test func `each channel counts its messages and bytes`() throws {
    var pair = ChannelPair()
    for byte in 1...3 { try pair.send(UInt8(byte), length: 2000, on: 7) }
    try pair.send(1, on: 8)
    pair.lose(try pair.next())
    try pair.exchange()
    let (sent, received) = (pair.near.traffic(of: 7), pair.far.traffic(of: 7))
    #expect(sent.messagesSent == 3 && sent.bytesSent == 6000 && sent.messagesReceived == 0)
    #expect(received.messagesReceived == 3 && received.bytesReceived == 6000)
    #expect(pair.far.traffic(of: 9) == ChannelTraffic())
  }

  @Test func `dropped messages are never sent, and their late records are ignored`() throws {
    var pair = ChannelPair()
    for delivery in Delivery.allCases { try pair.send(1, length: 5000, delivery) }
    let packet = try pair.next()
    pair.near.dropOutgoing()
    #expect(pair.fill() == nil && pair.near.isDrained && pair.near.pendingBytes == 0)
    pair.lose(packet)
    pair.acknowledge(packet)
    #expect(pair.fill() == nil)
  }

  @Test func `unreliable messages can be dropped while reliable ones stay`() throws {
    var pair = ChannelPair()
    for delivery in Delivery.allCases { try pair.send(UInt8(delivery.rawValue), delivery) }
    pair.near.dropUnreliable()
    try pair.exchange()
    #expect(pair.takeFirstBytes().sorted() == [2, 3, 4])
  }
}
