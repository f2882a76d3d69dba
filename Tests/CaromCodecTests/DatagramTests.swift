import CaromCodec
import CaromCore
import Testing

@Suite struct DatagramTests {
  private static func makePacket(_ length: Int, _ seed: UInt64 = 1) -> Packet {
    var generator = SeededGenerator(seed: seed)
    return Packet(
      type: UInt16(truncatingIfNeeded: seed), action: 7,
      payload: (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
  }

  private static func decode(
    _ datagrams: [[UInt8]], with decoder: inout DatagramDecoder
  ) throws -> [Packet] {
    try datagrams.flatMap { try decoder.receive($0.span) }
  }

  @Test func `several packets share a datagram, with an overhead of one byte each`() throws {
    var encoder = DatagramEncoder()
    let packets = (0..<40).map { Self.makePacket(20, $0) }
    for packet in packets { try encoder.append(packet) }
    let datagrams = encoder.flush()
    #expect(datagrams.map(\.count) == [40 * (1 + Packet.headerLength + 20)])
    var decoder = DatagramDecoder()
    #expect(try Self.decode(datagrams, with: &decoder) == packets)
    #expect(encoder.flush().isEmpty)
  }

  /// With its prefix of one byte, the first packet takes half of a datagram.
  @Test(arguments: [(32, [64]), (33, [32, 33])])
  func `packets share a datagram up to its maximum length, and not one byte beyond`(
    entry: Int, lengths: [Int]
  ) throws {
    var encoder = DatagramEncoder(maximumLength: 64)
    for length in [32, entry] {
      try encoder.append(Self.makePacket(length - 1 - Packet.headerLength))
    }
    #expect(encoder.flush().map(\.count) == lengths)
  }

  @Test(arguments: [64, 500, 1200, 1452, 65_507])
  func `packets of any length come back, and no datagram is over the limit`(mtu: Int) throws {
    var encoder = DatagramEncoder(maximumLength: mtu)
    let most = DatagramEncoder.maximumFragments * (mtu - 18) - Packet.headerLength
    let lengths = [0, 1, 5, 58, 59, 60, 63, 64, 65, 1194, 1195, 1196, 1200, 1_448, 9_000, 100_000]
    let packets = lengths.filter { $0 <= most }.enumerated().map { index, length in
      Self.makePacket(length, UInt64(index))
    }
    for packet in packets { try encoder.append(packet) }
    let datagrams = encoder.flush()
    #expect(datagrams.allSatisfy { $0.count <= mtu && !$0.isEmpty })
    var decoder = DatagramDecoder()
    #expect(try Self.decode(datagrams, with: &decoder) == packets)
    #expect(decoder.incompleteBytes == 0)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `lost, doubled and reordered datagrams lose and double packets, and change none`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    var encoder = DatagramEncoder()
    let packets = (0..<30).map {
      Self.makePacket(Int.random(in: 0...6_000, using: &generator), $0)
    }
    for packet in packets { try encoder.append(packet) }
    var datagrams = encoder.flush().flatMap { datagram in
      Array(repeating: datagram, count: Int.random(in: 0...2, using: &generator))
    }
    datagrams.shuffle(using: &generator)
    var decoder = DatagramDecoder()
    let received = try Self.decode(datagrams, with: &decoder)
    #expect(!received.isEmpty && received.allSatisfy { packets.contains($0) })
  }

  @Test func `a packet over the limit is refused without loss of earlier packets`() throws {
    var encoder = DatagramEncoder(limit: 1000)
    try encoder.append(Self.makePacket(10))
    #expect(throws: FrameError.frameTooLarge(length: 1001, limit: 1000)) {
      try encoder.append(Self.makePacket(997))
    }
    var small = DatagramEncoder(maximumLength: 64)
    #expect(throws: FrameError.frameTooLarge(length: 47_105, limit: 47_104)) {
      try small.append(Self.makePacket(47_101))
    }
    var decoder = DatagramDecoder()
    #expect(try Self.decode(encoder.flush(), with: &decoder) == [Self.makePacket(10)])
  }

  @Test func `the memory for fragments is bounded, and the oldest are dropped`() throws {
    var encoder = DatagramEncoder()
    var decoder = DatagramDecoder(limit: 20_000)
    for index in 0..<200 {
      try encoder.append(Self.makePacket(3000, UInt64(index)))
      // The last fragment of each is lost.
      for datagram in encoder.flush().dropLast() { _ = try decoder.receive(datagram.span) }
      #expect(decoder.incompleteBytes <= 20_000)
    }
    try encoder.append(Self.makePacket(5000))
    #expect(try Self.decode(encoder.flush(), with: &decoder) == [Self.makePacket(5000)])
  }

  @Test(
    arguments: [
      ([0x06, 0, 0, 0], DecodeError.truncated(wanted: 2, remaining: 1)),
      ([0x08, 0, 0, 0], .truncated(wanted: 4, remaining: 3)),
      ([0x03, 0, 1, 1, 0], .invalid(what: "fragment index")),
      ([0x03, 0, 0, 0, 0], .invalid(what: "fragment index")),
      ([0x01, 0, 0, 1], .invalid(what: "empty fragment")),
      ([0x03, 0, 0, 0x81, 8, 0], .tooLarge(length: 1025, limit: 1024)),
      ([0x03, 0, 0, 2, 9, 0x03, 0, 1, 3, 9], .invalid(what: "fragment count")),
    ] as [([UInt8], DecodeError)])
  func `a malformed datagram throws the matching error`(bytes: [UInt8], error: DecodeError) {
    var decoder = DatagramDecoder()
    #expect(throws: error) { try decoder.receive(bytes.span) }
  }

  /// An entry with one byte of a packet's body.
  private static func fragment(_ number: UInt8, _ index: UInt8, of count: UInt8) -> [UInt8] {
    [0x03, number, index, count, index]
  }

  @Test(
    arguments: [
      ([0x03, 1, 0, 6, 0], DecodeError.invalid(what: "fragment count")),
      ([0x08, 7, 7, 7, 7, 0x03, 1, 4, 5, 4, 0x03, 2, 3, 3, 0], .invalid(what: "fragment index")),
      ([0x03, 1, 4, 5, 4, 0x03, 3, 0, 2, 0, 0x03, 3, 1, 3, 0], .invalid(what: "fragment count")),
      // The packet that is completed has no action.
      ([0x03, 1, 4, 5, 4, 0x03, 9, 0, 1, 0], .truncated(wanted: 2, remaining: 1)),
    ] as [([UInt8], DecodeError)])
  func `a malformed datagram changes nothing`(bytes: [UInt8], error: DecodeError) throws {
    var decoder = DatagramDecoder()
    for index in 0..<4 as Range<UInt8> {
      #expect(try decoder.receive(Self.fragment(1, index, of: 5).span) == [])
    }
    #expect(throws: error) { try decoder.receive(bytes.span) }
    #expect(decoder.incompleteBytes == 4)
    let packets = try decoder.receive(Self.fragment(1, 4, of: 5).span)
    #expect(packets == [Packet(type: 0x0100, action: 0x0302, payload: [4])])
    #expect(decoder.incompleteBytes == 0)
  }

  @Test func `a datagram has at most 1,200 bytes unless another length is chosen`() throws {
    var encoder = DatagramEncoder()
    try encoder.append(Self.makePacket(1_198 - Packet.headerLength))
    #expect(encoder.flush().map(\.count) == [1_200])
    try encoder.append(Self.makePacket(1_199 - Packet.headerLength))
    #expect(encoder.flush().map(\.count).max() ?? 0 <= 1_200)
    #expect(DatagramEncoder.leastMaximumLength == 64)
  }

  @Test func `a packet has at most 1,024 fragments`() throws {
    var encoder = DatagramEncoder(maximumLength: 64)
    // A fragment of a datagram of 64 bytes has 46 bytes of a body.
    let longest = Self.makePacket(1_024 * 46 - Packet.headerLength)
    try encoder.append(longest)
    let datagrams = encoder.flush()
    #expect(datagrams.count == 1_024)
    var decoder = DatagramDecoder()
    #expect(try Self.decode(datagrams, with: &decoder) == [longest])
  }

  @Test(arguments: [(100, true), (101, false)])
  func `a body at the decoder's limit is accepted, whole or in fragments`(
    length: UInt8, isAccepted: Bool
  ) throws {
    let body = Self.makePacket(Int(length) - Packet.headerLength).encoded
    let whole = [(length << 1) | 0x80, length >> 6] + body
    let fragments = [body.prefix(60), body.dropFirst(60)].enumerated().map { index, part in
      [UInt8(part.count << 1 | 1), 5, UInt8(index), 2] + part
    }
    let one = [(length << 1) | 0x81, length >> 6, 9, 0, 1] + body
    for datagrams in [[whole], fragments, [one]] {
      var decoder = DatagramDecoder(limit: 100)
      do {
        let packets = try Self.decode(datagrams, with: &decoder)
        #expect(isAccepted && packets.map(\.encoded) == [body])
      } catch {
        #expect(!isAccepted)
        #expect(error as? DecodeError == .tooLarge(length: UInt64(length), limit: 100))
      }
    }
  }

  @Test func `64 packets may be incomplete, and one more displaces the least recent`() throws {
    var decoder = DatagramDecoder()
    func receive(_ number: UInt8, _ index: UInt8) throws -> Int {
      try decoder.receive(Self.fragment(number, index, of: 6).span).count
    }
    for number in 0..<64 as Range<UInt8> {
      for index in 0..<4 as Range<UInt8> { #expect(try receive(number, index) == 0) }
    }
    #expect(decoder.incompleteBytes == 64 * 4)
    #expect(try receive(0, 4) == 0, "packet 0 is the most recent now")
    #expect(try receive(64, 0) == 0)
    #expect(decoder.incompleteBytes == 62 * 4 + 5 + 1)
    #expect(try receive(0, 5) == 1)
    #expect(try receive(2, 4) == 0)
    #expect(try receive(2, 5) == 1, "packet 2 was kept")
    #expect(try receive(1, 4) == 0)
    #expect(try receive(1, 5) == 0, "packet 1 was dropped")
  }

  @Test func `random datagrams never cause a trap, and memory stays bounded`() {
    #if DEBUG
      let count = 20_000
    #else
      let count = 300_000
    #endif
    var generator = SeededGenerator(seed: 3)
    var decoder = DatagramDecoder(limit: 4096)
    for _ in 0..<count {
      var bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8(truncatingIfNeeded: generator.next())
      }
      if bytes.count > 4, generator.chance(0.5) {
        bytes.replaceSubrange(0..<4, with: [UInt8(2 * (bytes.count - 4) + 1), bytes[1] & 3, 0, 2])
      }
      _ = try? decoder.receive(bytes.span)
      if decoder.incompleteBytes > 4096 { Issue.record("\(decoder.incompleteBytes) bytes wait") }
    }
  }
}
