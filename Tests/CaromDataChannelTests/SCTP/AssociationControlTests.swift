import CaromCore
import Testing

@testable import CaromDataChannel

@Suite struct AssociationControlTests {
  private typealias Chunk = SCTPPacket.Chunk
  private static let tag: UInt32 = 0xA000_0002

  private static func makePair() -> AssociationPair {
    var pair = AssociationPair()
    pair.run(for: .seconds(1))
    return pair
  }

  /// Hands chunks to side 1 of a pair, and returns the packets with which it answers.
  private static func answers(
    to chunks: [Chunk], tag: UInt32 = tag, _ pair: inout AssociationPair
  ) -> [SCTPPacket] {
    let count = pair.packets[1].count
    pair.hand(SCTPPacket(tag: tag, chunks).bytes, to: 1)
    pair.run(for: .zero)
    return pair.packets[1].dropFirst(count).map { SCTPPacket($0) }
  }

  @Test func `a heartbeat is returned as it came`() {
    var pair = Self.makePair()
    let information: [UInt8] = [0, 1, 0, 9, 1, 2, 3, 4, 5]
    let answers = Self.answers(to: [Chunk(type: 4, value: information)], &pair)
    #expect(answers.map(\.chunks) == [[Chunk(type: 5, value: information)]])
    #expect(answers[0].tag == 0xA000_0001)
  }

  @Test func `answers are bounded`() {
    var pair = Self.makePair()
    let heartbeat = Chunk(type: 4, value: [UInt8](repeating: 1, count: 96))
    let answers = Self.answers(to: Array(repeating: heartbeat, count: 50), &pair)
    #expect(answers.map(\.chunks.count) == [5])
  }

  @Test func `an abort closes, also with the peer's own tag`() {
    for (tag, flags) in [(Self.tag, 0), (0xA000_0001, 1)] as [(UInt32, UInt8)] {
      var pair = Self.makePair()
      #expect(Self.answers(to: [Chunk(type: 6, flags: flags)], tag: tag, &pair).isEmpty)
      #expect(pair.states[1] == .closed(.aborted))
      #expect(pair.send([1], from: 1) == false)
    }
  }

  @Test func `an abort by this side reaches the peer`() {
    var pair = Self.makePair()
    pair.sides[0].abort()
    pair.run(for: .seconds(1))
    #expect(pair.states == [.closed(.abortedHere), .closed(.aborted)])
  }

  @Test func `a peer that missed the abort gets another`() {
    var pair = Self.makePair()
    pair.path = .init(loss: 1)
    pair.sides[0].abort()
    pair.run(for: .zero)
    pair.path = .init()
    #expect(pair.send([1], from: 1) == true)
    pair.run(for: .seconds(1))
    #expect(pair.states == [.closed(.abortedHere), .closed(.aborted)])
    #expect(pair.received == [[], []])
  }

  @Test func `a shutdown is acknowledged each time`() {
    var pair = Self.makePair()
    let shutdown = Chunk(type: ChunkType.shutdown, value: SCTPPacket.words(199))
    for _ in 0..<2 {
      #expect(Self.answers(to: [shutdown], &pair).map(\.types) == [[ChunkType.shutdownAck]])
      #expect(pair.states[1] == .closed(.shutDown))
    }
    #expect(Self.answers(to: [Chunk(type: ChunkType.shutdownComplete)], &pair).isEmpty)
  }

  private static func makeReset(_ streams: [UInt16]) -> Chunk {
    var value: [UInt8] = []
    value.appendParameter(ParameterType.outgoingReset, length: 12 + 2 * streams.count)
    value += SCTPPacket.words(55, 0, 100)
    for stream in streams { value.appendBigEndian(stream) }
    return Chunk(type: ChunkType.reconfiguration, value: value)
  }

  @Test(arguments: [[], [0], [4, 0]] as [[UInt16]])
  func `a reset of the channel's stream is performed, and closes`(streams: [UInt16]) throws {
    var pair = Self.makePair()
    let answers = Self.answers(to: [Self.makeReset(streams)], &pair)
    #expect(answers.map(\.types) == [[ChunkType.reconfiguration, ChunkType.abort]])
    let response = try #require(answers.first?.chunks.first)
    #expect(response.value == [0, 16, 0, 12] + SCTPPacket.words(55, 1))
    #expect(pair.states[1] == .closed(.channelClosed))
  }

  @Test func `a reset of other streams does not close, and other requests are denied`() throws {
    var pair = Self.makePair()
    #expect(Self.answers(to: [Self.makeReset([3])], &pair).map(\.types) == [[130]])
    let more = Chunk(
      type: ChunkType.reconfiguration, value: [0, 17, 0, 12] + SCTPPacket.words(56, 1 << 16))
    let response = Self.answers(to: [more], &pair).first?.chunks.first
    #expect(response?.value == [0, 16, 0, 12] + SCTPPacket.words(56, 2))
    #expect(pair.states[1] == .established)
  }

  /// Types 0x3F, 0x7F, 0xBF and 0xFF: whether they are reported, and whether the heartbeat behind
  /// them is answered.
  @Test(arguments: [(0x3F, []), (0x7F, [9]), (0xBF, [5]), (0xFF, [9, 5])] as [(UInt8, [UInt8])])
  func `unknown chunks are treated as their type asks`(type: UInt8, types: [UInt8]) {
    var pair = Self.makePair()
    let unknown = Chunk(type: type, value: [1, 2])
    let heartbeat = Chunk(type: 4, value: [0, 1, 0, 4])
    let answers = Self.answers(to: [unknown, heartbeat], &pair)
    #expect(answers.flatMap(\.types) == types)
    if types.first == 9 {
      #expect(answers[0].chunks[0].value == [0, 6, 0, 10, type, 0, 0, 6, 1, 2])
    }
  }

  @Test func `data without a byte breaks the protocol`() {
    var pair = Self.makePair()
    let answers = Self.answers(to: [SCTPPacket.data(100, [])], &pair)
    #expect(answers.map(\.types) == [[ChunkType.abort]])
    #expect(pair.states[1] == .closed(.violated))
  }

  @Test func `packets with a wrong checksum, port, tag or length are dropped`() {
    var pair = Self.makePair()
    let good = SCTPPacket(tag: Self.tag, [SCTPPacket.data(100, [1])]).bytes
    var wrong = good
    wrong[8] ^= 1
    var port = good
    port[3] ^= 1
    let packets = [
      wrong, SCTPPacket.sealed(port), SCTPPacket(tag: 0, [SCTPPacket.data(100, [1])]).bytes,
      SCTPPacket(tag: Self.tag, []).bytes, [], [UInt8](good.prefix(11)),
    ]
    for packet in packets { pair.hand(packet, to: 1) }
    #expect(pair.sides[1].statistics.malformedPackets == packets.count)
    var long = good
    long[15] += 4
    pair.hand(SCTPPacket.sealed(long), to: 1)
    #expect(pair.received[1] == [])
    pair.hand(good, to: 1)
    #expect(pair.received[1] == [[1]])
  }

  @Test func `a SACK of what was never sent changes nothing`() {
    var pair = Self.makePair()
    let sack = Chunk(type: ChunkType.selectiveAck, value: SCTPPacket.words(5_000, 0, 0))
    #expect(Self.answers(to: [sack], &pair).isEmpty)
    #expect(pair.send([UInt8](repeating: 1, count: 1_200), from: 1) == true)
    #expect(pair.send([UInt8](repeating: 1, count: 1_200), from: 1) == true)
  }
}
