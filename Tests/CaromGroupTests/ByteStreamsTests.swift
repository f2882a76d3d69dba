import CaromCore
import CaromGroup
import Testing

@Suite struct ByteStreamsTests {
  @Test(arguments: [0, 1] as [Int], 1...3 as ClosedRange<UInt64>)
  func `bytes arrive in order in both directions, whichever side opens`(
    side: Int, seed: UInt64
  ) throws {
    let bytes = [randomBytes(700_000, seed: 1), randomBytes(300_001, seed: 2)]
    var link = StreamLink(seed: seed)
    let ids = try link.open(from: side)
    try link.run()
    #expect(try link.transfer(bytes[0], ids, from: 0) == bytes[0])
    #expect(try link.transfer(bytes[1], ids, from: 1) == bytes[1])
  }

  @Test func `the peer learns the name of a stream before its bytes`() throws {
    var link = StreamLink()
    let ids = try link.open("voice 📢")
    _ = try link.sides[0].machine.write([1, 2].span, to: ids[0])
    try link.run()
    #expect(link.takeEvents(1) == [.opened(ids[1], name: "voice 📢"), .readable(ids[1])])
    #expect(try link.read(ids[1], 1) == [1, 2])
    #expect(try link.read(ids[1], 1) == [])
  }

  @Test func `a side that has finished can still read`() throws {
    var link = StreamLink()
    let ids = try link.open()
    _ = try link.sides[0].machine.write([1].span, to: ids[0])
    link.sides[0].machine.finish(ids[0])
    try link.run()
    #expect(try link.read(ids[1], 1) == [1])
    #expect(try link.read(ids[1], 1) == nil)
    #expect(throws: StreamFailure.finished) {
      _ = try link.sides[0].machine.write([2].span, to: ids[0])
    }
    _ = try link.sides[1].machine.write([3].span, to: ids[1])
    link.sides[1].machine.finish(ids[1])
    try link.run()
    #expect(try link.read(ids[0], 0) == [3])
    #expect(try link.read(ids[0], 0) == nil)
  }

  @Test func `the end is seen even if it arrives before this side has finished`() throws {
    var link = StreamLink()
    let ids = try link.open()
    link.sides[0].machine.finish(ids[0])
    try link.run()
    link.sides[1].machine.finish(ids[1])
    try link.run()
    for side in 0...1 { #expect(try link.read(ids[side], side) == nil) }
  }

  @Test func `a stream that is not read stops at its credit and delays no other`() throws {
    let bytes = randomBytes(600_000)
    var link = StreamLink()
    let stalled = try link.open()
    let others = try (0..<4).map { _ in try link.open() }
    _ = try link.transfer(bytes, stalled, isRead: false)
    for ids in others { #expect(try link.transfer(bytes, ids) == bytes) }
    var rest: [UInt8] = []
    while let part = try link.read(stalled[1], 1), !part.isEmpty {
      rest += part
      try link.run()
    }
    #expect(rest == Array(bytes[..<(CreditWindow.initialSize + StreamLimits.queuedBytes)]))
  }

  @Test func `the writer of a full stream is told when there is room`() throws {
    var link = StreamLink()
    let ids = try link.open()
    _ = try link.transfer(randomBytes(600_000), ids, isRead: false)
    _ = link.takeEvents(0)
    #expect(try link.sides[0].machine.write([1].span, to: ids[0]) == 0)
    _ = try link.read(ids[1], 1, 200_000)
    try link.run()
    #expect(link.takeEvents(0) == [.writable(ids[0])])
  }

  @Test(arguments: [0, 1])
  func `either side resets, and the other loses what it has not read`(side: Int) throws {
    var link = StreamLink()
    let ids = try link.open()
    for each in 0...1 {
      try link.run()
      _ = try link.sides[each].machine.write([1, 2, 3].span, to: ids[each])
    }
    try link.run()
    for each in 0...1 { _ = link.takeEvents(each) }
    link.sides[side].machine.reset(ids[side])
    try link.run()
    #expect(link.takeEvents(1 - side) == [.reset(ids[1 - side], .reset)])
    for each in 0...1 {
      #expect(throws: StreamFailure.reset) { try link.read(ids[each], each) }
    }
  }

  @Test func `a reset that crosses the peer's bytes is no violation`() throws {
    for seed in 1...30 as ClosedRange<UInt64> {
      var link = StreamLink(seed: seed)
      let ids = try link.open()
      try link.run()
      for side in 0...1 {
        _ = try link.sides[side].machine.write(randomBytes(50_000).span, to: ids[side])
      }
      try link.run(limit: Int(seed % 4))
      link.sides[Int(seed % 2)].machine.reset(ids[Int(seed % 2)])
      try link.run()
    }
  }

  @Test func `streams beyond the limit can be opened once others are over`() throws {
    var link = StreamLink()
    let all = try (0..<StreamLimits.streams).map { _ in try link.open() }
    try link.run()
    #expect(throws: StreamFailure.tooManyStreams) { try link.open() }
    for side in 0...1 { link.sides[side].machine.finish(all[0][side]) }
    try link.run()
    _ = link.takeEvents(0)
    #expect(try link.read(all[0][0], 0) == nil)
    try link.run()
    #expect(throws: StreamFailure.tooManyStreams) { try link.open() }
    // The peer counts the stream until its own reader has seen the end.
    #expect(try link.read(all[0][1], 1) == nil)
    link.sides[1].machine.reset(all[1][1])
    try link.run()
    #expect(link.takeEvents(0).contains(.canOpen))
    for _ in 0..<2 { _ = try link.open() }
    #expect(throws: StreamFailure.tooManyStreams) { try link.open() }
    try link.run()
  }

  @Test func `a name that is too long is refused`() {
    var machine = ByteStreams()
    #expect(throws: StreamFailure.nameTooLong) {
      try machine.open(String(repeating: "x", count: 256))
    }
  }

  @Test func `the end of the connection resets every stream`() throws {
    var link = StreamLink()
    let ids = try link.open()
    try link.run()
    link.sides[1].machine.disconnect()
    #expect(link.sides[1].machine.pollEvent() == .reset(ids[1], .disconnected))
    #expect(throws: StreamFailure.reset) { try link.read(ids[1], 1) }
  }

  @Test(arguments: [
    StreamMessage.open(1, name: ""), .open(256, name: ""),
    .finish(StreamID(isOutgoing: true, number: 3)), .reset(StreamID(isOutgoing: true, number: 3)),
    .credit(StreamID(isOutgoing: false, number: 0), limit: 1), .streams(limit: 300),
  ])
  func `messages that break the rules are not accepted on the data channel`(
    message: StreamMessage
  ) throws {
    var machine = ByteStreams()
    #expect(throws: DecodeError.self) { try machine.handleData(message.encoded.span) }
  }

  @Test(arguments: [
    StreamMessage.open(0, name: ""), .finish(StreamID(isOutgoing: false, number: 0)),
    .credit(StreamID(isOutgoing: false, number: 0), limit: 1),
    .credit(StreamID(isOutgoing: false, number: 0), limit: 5 << 20),
    .credit(StreamID(isOutgoing: true, number: 0), limit: 1 << 19),
    .streams(limit: 256), .streams(limit: 258),
  ])
  func `messages that break the rules are not accepted on the control channel`(
    message: StreamMessage
  ) throws {
    var machine = ByteStreams()
    _ = try machine.open("")
    #expect(throws: DecodeError.self) { try machine.handleControl(message.encoded.span) }
  }

  @Test func `bytes must not exceed the credit, follow the end or be empty`() throws {
    let id = StreamID(isOutgoing: true, number: 0)
    var machine = ByteStreams()
    try machine.handleData(StreamMessage.open(0, name: "").encoded.span)
    let chunk = StreamMessage.data(id, [UInt8](repeating: 0, count: StreamLimits.chunkLength))
    for _ in 0..<8 { try machine.handleData(chunk.span) }
    #expect(throws: DecodeError.self) { try machine.handleData(StreamMessage.data(id, [0]).span) }
    try machine.handleData(StreamMessage.finish(id).encoded.span)
    #expect(throws: DecodeError.self) {
      try machine.handleData(StreamMessage.finish(id).encoded.span)
    }
    #expect(throws: DecodeError.self) { try machine.handleData(StreamMessage.data(id, []).span) }
    let long = [UInt8](repeating: 0, count: StreamLimits.chunkLength + 1)
    #expect(throws: DecodeError.self) { try machine.handleData(StreamMessage.data(id, long).span) }
  }
}
