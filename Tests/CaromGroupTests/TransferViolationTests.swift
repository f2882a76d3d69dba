import CaromCore
import CaromGroup
import Testing

/// What a peer that breaks the rules of file transfers can send.
@Suite struct TransferViolationTests {
  private static func makeOffer(_ size: UInt64 = 1 << 20) throws -> FileOffer {
    FileOffer(
      try #require(FileName("f")), size: size,
      hash: [UInt8](repeating: 1, count: FileOffer.hashLength))
  }

  /// Returns a machine that has offered one file, which the peer has accepted.
  private func makeSender() throws -> Transfers {
    var machine = Transfers()
    _ = try machine.offer(Self.makeOffer())
    try machine.handleControl(TransferMessage.accept(0, offset: 0).encoded.span)
    while machine.pollEvent() != nil {}
    return machine
  }

  /// Returns a machine that has accepted one file of the peer.
  private func makeReceiver() throws -> Transfers {
    var machine = Transfers()
    try machine.handleControl(TransferMessage.offer(0, Self.makeOffer()).encoded.span)
    while machine.pollEvent() != nil {}
    machine.accept(.incoming(0))
    return machine
  }

  @Test(arguments: [
    TransferMessage.accept(0, offset: 0), .accept(1, offset: 0),
    .credit(0, stored: 1, limit: 1 << 19), .credit(0, stored: 0, limit: 0),
    .credit(0, stored: 0, limit: 5 << 20), .credit(7, stored: 0, limit: 1 << 19), .complete(0),
    .complete(9), .stop(1, .cancelled), .withdraw(0, .cancelled),
  ])
  func `a sender does not accept what its receiver must not send`(message: TransferMessage) throws {
    var machine = try makeSender()
    #expect(throws: DecodeError.self) { try machine.handleControl(message.encoded.span) }
  }

  @Test func `an offset beyond the end of the file is not accepted`() throws {
    var machine = Transfers()
    _ = try machine.offer(Self.makeOffer(10))
    #expect(throws: DecodeError.self) {
      try machine.handleControl(TransferMessage.accept(0, offset: 11).encoded.span)
    }
  }

  @Test func `offers must be numbered in order`() throws {
    var machine = try makeReceiver()
    for number in [0, 2] as [UInt64] {
      #expect(throws: DecodeError.self) {
        try machine.handleControl(TransferMessage.offer(number, Self.makeOffer()).encoded.span)
      }
    }
  }

  @Test func `a peer must not offer more files than the limit`() throws {
    var machine = Transfers()
    for number in 0..<UInt64(TransferLimits.transfers) {
      try machine.handleControl(TransferMessage.offer(number, Self.makeOffer()).encoded.span)
    }
    #expect(throws: DecodeError.self) {
      try machine.handleControl(TransferMessage.offer(64, Self.makeOffer()).encoded.span)
    }
  }

  @Test(
    arguments: [
      (0, 1, 10), (1, 0, 10), (0, 0, 0), (0, 0, TransferPiece.maximumLength + 1),
    ] as [(UInt64, UInt64, Int)])
  func `a piece must be the next one of an accepted file`(
    number: UInt64, offset: UInt64, count: Int
  ) throws {
    var machine = try makeReceiver()
    let piece = TransferPiece.encode(number, offset: offset, [UInt8](repeating: 0, count: count))
    #expect(throws: DecodeError.self) { try machine.handleData(piece.span) }
  }

  @Test func `a piece of a file that was not accepted is not accepted`() throws {
    var machine = Transfers()
    try machine.handleControl(TransferMessage.offer(0, Self.makeOffer()).encoded.span)
    #expect(throws: DecodeError.self) {
      try machine.handleData(TransferPiece.encode(0, offset: 0, [1]).span)
    }
  }

  @Test func `pieces must not exceed the credit`() throws {
    var machine = try makeReceiver()
    let bytes = [UInt8](repeating: 0, count: TransferPiece.maximumLength)
    for index in 0..<4 as Range<UInt64> {
      try machine.handleData(TransferPiece.encode(0, offset: index << 16, bytes).span)
    }
    #expect(throws: DecodeError.self) {
      try machine.handleData(TransferPiece.encode(0, offset: 4 << 16, [0]).span)
    }
  }

  @Test func `pieces must not exceed the file`() throws {
    var machine = Transfers()
    try machine.handleControl(TransferMessage.offer(0, Self.makeOffer(3)).encoded.span)
    machine.accept(.incoming(0))
    #expect(throws: DecodeError.self) {
      try machine.handleData(TransferPiece.encode(0, offset: 0, [1, 2, 3, 4]).span)
    }
  }

  @Test func `a peer that causes answers and never takes them is a violation`() throws {
    let offer = try Self.makeOffer()
    var machine = Transfers()
    for number in 0..<UInt64(TransferLimits.waitingMessages) {
      try machine.handleControl(TransferMessage.offer(number, offer).encoded.span)
      machine.refuse(.incoming(number))
    }
    #expect(throws: DecodeError.self) {
      let number = UInt64(TransferLimits.waitingMessages)
      try machine.handleControl(TransferMessage.offer(number, offer).encoded.span)
    }
  }

  @Test(arguments: [[], [0], [9, 0], [1, 0], [1, 0x80, 0]] as [[UInt8]])
  func `bytes that are no message are a violation`(bytes: [UInt8]) {
    var machine = Transfers()
    #expect(throws: DecodeError.self) { try machine.handleControl(bytes.span) }
  }

  @Test func `a file larger than the limit is a violation`() throws {
    var writer = PacketWriter()
    writer.append(1)
    writer.writeVarInt(0)
    writer.write(FileOffer.maximumSize + 1)
    writer.write([UInt8](repeating: 0, count: 32))
    writer.writeText("x")
    var machine = Transfers()
    #expect(throws: DecodeError.self) { try machine.handleControl(writer.bytes.span) }
  }

  @Test func `a reason of a later version is still a reason`() throws {
    var machine = try makeSender()
    try machine.handleControl([5, 0, 200].span)
    #expect(machine.pollEvent() == .failed(.outgoing(0), .unknown))
  }
}
