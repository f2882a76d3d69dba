import CaromCore
import CaromTesting
import Foundation
import Testing

@testable import CaromDataChannel

@Suite struct AssociationMessageTests {
  private typealias Chunk = SCTPPacket.Chunk
  private static let replay = ProcessInfo.processInfo.environment["CAROM_SEED"]
  /// The tag of packets to side 1 of a pair, and the TSN that it expects first.
  private static let tag: UInt32 = 0xA000_0002
  private static let first: UInt32 = 100

  private static func makePair(path: AssociationPair.Path = .init()) -> AssociationPair {
    var pair = AssociationPair()
    pair.run(for: .seconds(1))
    pair.path = path
    return pair
  }

  private static func hand(_ chunks: [Chunk], to pair: inout AssociationPair) {
    pair.hand(SCTPPacket(tag: tag, chunks).bytes, to: 1)
  }

  @Test func `a message of any length is one packet, and arrives at once`() throws {
    var pair = Self.makePair()
    for length in [1, 2, 3, 4, 5, 1_120, 1_199, 1_200] {
      let message = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
      let count = pair.packets[0].count
      #expect(pair.send(message, from: 0) == true)
      #expect(pair.packets[0].count == count + 1)
      #expect((pair.packets[0].last?.count ?? 0) <= SCTPAssociation.maximumPacketLength)
      pair.run(for: .milliseconds(200))
      #expect(pair.received[1].last == message)
    }
  }

  @Test func `a SACK is sent with the second packet, or after 100 ms, or with a message`() {
    var pair = Self.makePair()
    let before = pair.packets[1].count
    var answers: [[UInt8]] { pair.packets[1].dropFirst(before).map { SCTPPacket($0).types } }
    _ = pair.send([1], from: 0)
    pair.run(for: .milliseconds(119))
    #expect(answers == [])
    pair.run(for: .milliseconds(1))
    #expect(answers == [[3]])
    for value in [2, 3] as [UInt8] { _ = pair.send([value], from: 0) }
    pair.run(for: .milliseconds(20))
    #expect(answers == [[3], [3]])
    _ = pair.send([4], from: 0)
    pair.run(for: .milliseconds(30))
    _ = pair.send([5], from: 1)
    pair.run(for: .seconds(1))
    #expect(answers == [[3], [3], [3, 0]])
  }

  @Test func `messages through a bad path arrive at most once, and both sides settle`() throws {
    try Seeds(60, replay: Self.replay).check { seed in
      var generator = SeededGenerator(seed: seed)
      var pair = AssociationPair(
        .initiator, generator.chance(0.5) ? .responder : .initiator,
        firstTSNs: [UInt32.max - 40, UInt32(truncatingIfNeeded: generator.next())], seed: seed)
      pair.run(for: .seconds(2))
      pair.path = .init(loss: 0.2, reordering: 0.3, duplication: 0.1)
      var sent: [Set<[UInt8]>] = [[], []]
      for number in 0..<300 {
        for side in 0..<2 where generator.chance(0.8) {
          let message = [UInt8(number & 0xFF), UInt8(number >> 8), UInt8(side)]
          #expect(pair.send(message, from: side) == true)
          sent[side].insert(message)
        }
        pair.run(for: generator.duration(in: .zero ... .milliseconds(20)))
      }
      pair.run(for: .seconds(30))
      Self.check(pair, sent)
    }
  }

  /// Checks that each side received a good part of what the other sent, nothing else and nothing
  /// twice, and that nothing is outstanding or missing.
  private static func check(_ pair: AssociationPair, _ sent: [Set<[UInt8]>]) {
    for side in 0..<2 {
      let received = pair.received[1 - side]
      #expect(Set(received).count == received.count)
      #expect(Set(received).isSubset(of: sent[side]))
      #expect(received.count > sent[side].count * 7 / 10)
      #expect(pair.sides[side].sent.outstandingBytes == 0)
      #expect(!pair.sides[side].sent.owesForward && !pair.sides[side].received.hasGaps)
      #expect(
        pair.sides[1 - side].received.cumulative == pair.sides[side].sent.next.advanced(by: -1))
    }
  }

  @Test func `after a silence everything is abandoned, and messages go on`() {
    var pair = Self.makePair(path: .init(loss: 1))
    for value in 0..<10 as Range<UInt8> { _ = pair.send([value], from: 0) }
    pair.run(for: .seconds(20))
    // FORWARD-TSN is repeated after 0.5, 1, 2, 4, 4 and 4 s.
    let repeats = pair.packets[0].filter { SCTPPacket($0).types == [ChunkType.forward] }
    #expect(repeats.count == 7)
    pair.path = .init()
    pair.run(for: .seconds(10))
    #expect(pair.timeouts == [nil, nil])
    #expect(pair.send([99], from: 0) == true)
    pair.run(for: .seconds(1))
    #expect(pair.received[1] == [[99]])
    #expect(pair.sides[1].received.cumulative == TSN(Self.first + 10))
  }

  @Test func `a peer without room gets one message at a time`() {
    var pair = Self.makePair()
    let cumulative = pair.sides[0].sent.next.value &- 1
    let sack = Chunk(type: ChunkType.selectiveAck, value: SCTPPacket.words(cumulative, 0, 0))
    pair.hand(SCTPPacket(tag: 0xA000_0001, [sack]).bytes, to: 0)
    #expect(pair.send([1], from: 0) == true)
    #expect(pair.send([2], from: 0) == false)
    #expect(pair.sides[0].statistics.messagesRefused == 1)
  }

  @Test func `ordered and unordered messages are delivered at once, in whatever order`() {
    var pair = Self.makePair()
    Self.hand([SCTPPacket.data(Self.first + 2, [3], flags: 3)], to: &pair)
    Self.hand([SCTPPacket.data(Self.first, [1]), SCTPPacket.data(Self.first + 1, [2])], to: &pair)
    #expect(pair.received[1] == [[3], [1], [2]])
  }

  @Test func `data that is not of the channel is acknowledged and dropped`() {
    var pair = Self.makePair()
    Self.hand(
      [
        SCTPPacket.data(Self.first, [1], stream: 1),
        SCTPPacket.data(Self.first + 1, [1], payloadProtocol: 51),
        SCTPPacket.data(Self.first + 2, [UInt8](repeating: 0, count: 1_201)),
      ], to: &pair)
    #expect(pair.received[1] == [] && pair.sides[1].statistics.undeliverable == 3)
    #expect(pair.sides[1].received.cumulative == TSN(Self.first + 2))
  }

  @Test func `data outside the window is not acknowledged`() {
    var pair = Self.makePair()
    Self.hand([SCTPPacket.data(Self.first + 1_024, [1])], to: &pair)
    #expect(pair.received[1] == [] && pair.sides[1].statistics.outsideWindow == 1)
    #expect(pair.timeouts[1] == nil)
  }

  /// The parts of a message of three fragments, in every order.
  @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
  func `a message in fragments is put together`(order: [UInt32]) {
    var pair = Self.makePair()
    let flags: [UInt8] = [6, 4, 5]
    for part in order {
      Self.hand(
        [SCTPPacket.data(Self.first + part, [UInt8(part), 7], flags: flags[Int(part)])], to: &pair)
    }
    #expect(pair.received[1] == [[0, 7, 1, 7, 2, 7]])
  }

  @Test func `fragments that are too long together, or abandoned, are dropped`() {
    var pair = Self.makePair()
    let part = [UInt8](repeating: 1, count: 601)
    Self.hand(
      [
        SCTPPacket.data(Self.first, part, flags: 6),
        SCTPPacket.data(Self.first + 1, part, flags: 5),
        SCTPPacket.data(Self.first + 2, [1], flags: 6),
      ], to: &pair)
    let forward = Chunk(type: ChunkType.forward, value: SCTPPacket.words(Self.first + 3))
    Self.hand([forward, SCTPPacket.data(Self.first + 3, [2], flags: 5)], to: &pair)
    // A last fragment whose first one was abandoned finds nothing to join.
    Self.hand([SCTPPacket.data(Self.first + 4, [3], flags: 5)], to: &pair)
    Self.hand([SCTPPacket.data(Self.first + 5, [4])], to: &pair)
    #expect(pair.received[1] == [[4]])
  }

  @Test func `a SACK that does not fit beside a message goes by itself`() {
    var pair = Self.makePair()
    for offset in stride(from: 2, through: 60, by: 2) as StrideThrough<UInt32> {
      Self.hand([SCTPPacket.data(Self.first + offset, [1])], to: &pair)
    }
    let count = pair.packets[1].count
    _ = pair.send([UInt8](repeating: 5, count: 1_150), from: 1)
    pair.run(for: .zero)
    let types = pair.packets[1].dropFirst(count).map { SCTPPacket($0).types }
    #expect(types == [[0], [3]])
    #expect(pair.packets[1].last?.count == 12 + 16 + 30 * 4)
  }
}
