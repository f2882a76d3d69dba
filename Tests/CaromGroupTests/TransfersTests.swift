import CaromCore
import CaromGroup
import Testing

@Suite struct TransfersTests {
  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 1_000_000])
  func `a file arrives whole, whatever its size`(size: Int) throws {
    for seed in 1...3 as ClosedRange<UInt64> {
      let file = randomBytes(size)
      var link = TransferLink(seed: seed)
      let id = try link.send(file)
      try link.run()
      #expect(link.sides[1].stored[0] == file)
      link.sides[1].machine.complete(.incoming(0))
      try link.run()
      #expect(link.takeEvents(0) == [.accepted(id, offset: 0), .completed(id)])
    }
  }

  @Test func `the offer arrives as it was made`() throws {
    var link = TransferLink()
    let name = try #require(FileName("holiday.jpg"))
    let offer = FileOffer(name, size: 1 << 40, hash: Array(0..<32))
    _ = try link.sides[0].machine.offer(offer)
    try link.run()
    #expect(link.takeEvents(1) == [.offered(.incoming(0), offer)])
  }

  @Test func `a resumed file is sent from the offset that the receiver names`() throws {
    let file = randomBytes(300_000)
    var link = TransferLink()
    let id = try link.send(file, acceptedFrom: 200_001)
    try link.run()
    #expect(link.sides[1].stored[0] == file)
    #expect(link.takeEvents(0) == [.accepted(id, offset: 200_001)])
  }

  @Test func `a file of one terabyte is resumed near its end`() throws {
    var machine = Transfers()
    let name = try #require(FileName("disk.img"))
    let size = FileOffer.maximumSize
    let id = try machine.offer(FileOffer(name, size: size, hash: Array(0..<32)))
    try machine.handleControl(TransferMessage.accept(0, offset: size - 70_000).encoded.span)
    #expect(machine.pollEvent() == .accepted(id, offset: size - 70_000))
    let length = TransferPiece.sentLength
    #expect(machine.pollEvent() == .read(id, offset: size - 70_000, count: length))
    #expect(machine.pollEvent() == .read(id, offset: size - 12_656, count: 12_656))
    #expect(machine.pollEvent() == nil)
  }

  @Test func `several files are sent in turn, in both directions`() throws {
    let files = (0..<6).map { randomBytes(400_000 + $0, seed: UInt64($0)) }
    var link = TransferLink()
    for file in files[..<4] { _ = try link.send(file) }
    for file in files[4...] { _ = try link.send(file, from: 1) }
    try link.run()
    for (number, file) in files[..<4].enumerated() {
      #expect(link.sides[1].stored[UInt64(number)] == file)
    }
    for (number, file) in files[4...].enumerated() {
      #expect(link.sides[0].stored[UInt64(number)] == file)
    }
  }

  @Test func `a file whose receiver stores nothing stops at its credit and delays no other`() throws
  {
    let file = randomBytes(1 << 20)
    var link = TransferLink()
    link.sides[1].stalled = [0]
    _ = try link.send(file)
    _ = try link.send(file)
    try link.run()
    #expect(link.sides[1].stored[0]?.count == CreditWindow.initialSize)
    #expect(link.sides[1].stored[1] == file)
    link.sides[1].stalled = []
    link.store(.incoming(0), 1)
    try link.run()
    #expect(link.sides[1].stored[0] == file)
  }

  @Test func `no more bytes than the limit are given to the session`() throws {
    var link = TransferLink()
    let file = randomBytes(CreditWindow.initialSize)
    for _ in 0..<16 { _ = try link.offer(file) }
    try link.run()
    for number in 0..<16 as Range<UInt64> {
      link.sides[1].stored[number] = []
      link.sides[1].machine.accept(.incoming(number))
    }
    try link.run()
    // The message that reaches the limit may exceed it.
    let limit = TransferLimits.unacknowledgedBytes + TransferPiece.maximumLength + 20
    #expect(link.sides[0].mostInFlight <= limit)
    #expect(link.sides[0].mostInFlight >= TransferLimits.unacknowledgedBytes)
  }

  @Test func `each piece fits into a buffer of 64 KiB`() throws {
    var link = TransferLink()
    let file = randomBytes(4 << 20)
    _ = try link.send(file)
    try link.run()
    #expect(link.sides[1].stored[0] == file)
    #expect((56 << 10...64 << 10).contains(link.sides[0].longestPiece))
  }

  @Test func `the sender learns how much is stored, in rising order`() throws {
    var link = TransferLink()
    let id = try link.send(randomBytes(3 << 20))
    try link.run()
    let offsets = link.sides[0].events.compactMap { event -> UInt64? in
      if case .stored(id, let offset) = event { offset } else { nil }
    }
    #expect(offsets.count > 4)
    #expect(offsets == offsets.sorted())
    #expect(offsets.allSatisfy { $0 <= 3 << 20 })
  }
}

// MARK: - Ends
extension TransfersTests {
  @Test func `a refused file is not sent, and the sender learns the reason`() throws {
    var link = TransferLink()
    let id = try link.offer(randomBytes(100))
    try link.run()
    link.sides[1].machine.refuse(.incoming(0), .exists)
    try link.run()
    #expect(link.takeEvents(0) == [.failed(id, .exists)])
  }

  @Test(arguments: [0, 1], 1...5 as ClosedRange<UInt64>)
  func `either side cancels in the middle, and the other learns the reason`(
    side: Int, seed: UInt64
  ) throws {
    let file = randomBytes(600_000)
    var link = TransferLink(seed: seed)
    link.sides[1].stalled = [0]
    let id = try link.send(file)
    try link.run()
    let ids = [id, TransferID.incoming(0)]
    link.store(.incoming(0), 1)
    link.sides[side].machine.cancel(ids[side], side == 0 ? .unreadable : .diskFull)
    try link.run()
    let failure: TransferFailure = side == 0 ? .unreadable : .diskFull
    #expect(link.takeEvents(1 - side).last == .failed(ids[1 - side], failure))
    // Both sides have room for as many files as before, and the next one arrives.
    link.sides[1].stalled = []
    _ = try link.send(file)
    try link.run()
    #expect(link.sides[1].stored[1] == file)
  }

  @Test func `cancelling a transfer that is over does nothing`() throws {
    var link = TransferLink()
    let id = try link.offer([])
    link.sides[0].machine.cancel(id)
    link.sides[0].machine.cancel(id)
    try link.run()
    #expect(link.takeEvents(1).last == .failed(.incoming(0), .cancelled))
    link.sides[1].machine.cancel(.incoming(0))
    link.sides[1].machine.accept(.incoming(0))
    try link.run()
    #expect(link.takeEvents(0).isEmpty)
  }

  @Test func `the end of the connection fails every transfer on both sides`() throws {
    var link = TransferLink()
    let sending = try link.send(randomBytes(100))
    let receiving = try link.send(randomBytes(100), from: 1)
    try link.run()
    _ = link.takeEvents(0)
    link.sides[0].machine.disconnect()
    try link.run()
    #expect(
      link.takeEvents(0) == [
        .failed(sending, .disconnected), .failed(.incoming(receiving.number), .disconnected),
      ])
  }

  @Test func `the sixty-fifth file at a time is refused at once`() throws {
    var link = TransferLink()
    var ids: [TransferID] = []
    for _ in 0..<TransferLimits.transfers { ids.append(try link.offer([])) }
    #expect(throws: TransferFailure.busy) { try link.offer([]) }
    try link.run()
    link.sides[0].machine.cancel(ids[3])
    _ = try link.offer([])
    try link.run()
    #expect(link.takeEvents(1).count == TransferLimits.transfers + 2)
  }

  @Test func `a file with an invalid name is refused, and the connection lives`() throws {
    var machine = Transfers()
    var writer = PacketWriter()
    writer.append(1)
    writer.writeVarInt(0)
    writer.write(UInt64(5))
    writer.write([UInt8](repeating: 0, count: 32))
    writer.writeText("../x")
    try machine.handleControl(writer.bytes.span)
    #expect(machine.pollEvent() == nil)
    #expect(machine.pollTransmit() == .control(TransferMessage.stop(0, .invalidName).encoded))
  }
}
