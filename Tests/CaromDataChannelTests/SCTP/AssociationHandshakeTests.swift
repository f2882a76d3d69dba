import CaromCore
import CaromTesting
import Foundation
import Testing

@testable import CaromDataChannel

@Suite struct AssociationHandshakeTests {
  private typealias Chunk = SCTPPacket.Chunk
  private static let replay = ProcessInfo.processInfo.environment["CAROM_SEED"]

  private static func types(_ packets: [[UInt8]]) -> [[UInt8]] {
    packets.map { SCTPPacket($0).types }
  }

  @Test func `four packets establish an association`() {
    var pair = AssociationPair()
    #expect(pair.states == [.waiting, .waiting])
    pair.run(for: .seconds(1))
    #expect(pair.isEstablished)
    #expect(Self.types(pair.packets[0]) == [[1], [10]])
    #expect(Self.types(pair.packets[1]) == [[2], [11]])
    #expect(pair.timeouts == [nil, nil])
  }

  @Test func `two initiators establish one association`() {
    var pair = AssociationPair(.initiator, .initiator)
    pair.run(for: .seconds(5))
    #expect(pair.isEstablished)
    let isSent = (pair.send([1], from: 0), pair.send([2], from: 1))
    pair.run(for: .seconds(1))
    #expect(isSent == (true, true) && pair.received == [[[2]], [[1]]])
  }

  @Test func `an association is established although half of its packets are lost`() throws {
    for role in [SCTPAssociation.Role.responder, .initiator] {
      try Seeds(100, replay: Self.replay).check { seed in
        var pair = AssociationPair(
          .initiator, role, path: .init(loss: 0.5, reordering: 0.5, duplication: 0.3), seed: seed)
        pair.run(for: .seconds(600))
        let outcome = pair.states
        // A side whose eight attempts were all lost has given up.
        let hasGivenUp = outcome.contains(.closed(.timedOut))
        #expect(pair.isEstablished || hasGivenUp, "seed \(seed): \(outcome)")
        guard pair.isEstablished else { return }
        pair.path = .init()
        #expect(pair.send([7], from: 0) == true)
        #expect(pair.send([8], from: 1) == true)
        pair.run(for: .seconds(10))
        #expect(pair.received == [[[8]], [[7]]], "seed \(seed)")
      }
    }
  }

  @Test func `an initiator without an answer gives up after eight attempts`() {
    var pair = AssociationPair(path: .init(loss: 1))
    pair.run(for: .seconds(254))
    #expect(pair.packets[0].count == 8 && pair.states[0] == .waiting)
    pair.run(for: .seconds(2))
    #expect(pair.packets[0].count == 8 && pair.states[0] == .closed(.timedOut))
  }

  @Test func `nothing can be sent before the association is established`() {
    var pair = AssociationPair()
    #expect(pair.send([1], from: 0) == false)
    #expect(pair.sides[0].statistics.messagesRefused == 1)
    #expect(pair.packets == [[], []])
  }

  /// A chunk INIT with parameters: FORWARD-TSN supported, and those given.
  private static func makeInit(
    tag: UInt32, tsn: UInt32, supportsForward: Bool = true, _ parameters: [UInt8] = []
  ) -> [UInt8] {
    var value = SCTPPacket.words(tag, 100_000, 1 << 16 | 1, tsn)
    if supportsForward { value += SCTPPacket.words(0xC000_0004) }
    return SCTPPacket(tag: 0, [Chunk(type: 1, value: value + parameters)]).bytes
  }

  private static func cookie(of packet: [UInt8]?) throws -> [UInt8] {
    let chunk = try #require(packet.map { SCTPPacket($0).chunks[0] })
    #expect(chunk.type == ChunkType.initiationAck)
    return Array(chunk.value.suffix(8))
  }

  @Test func `an INIT from a peer that cannot abandon messages is aborted`() throws {
    var pair = AssociationPair(.responder)
    pair.hand(Self.makeInit(tag: 9, tsn: 1, supportsForward: false), to: 1)
    pair.run(for: .zero)
    let answer = SCTPPacket(try #require(pair.packets[1].first))
    #expect(answer.tag == 9 && answer.types == [ChunkType.abort])
    #expect(pair.states[1] == .waiting)
  }

  @Test func `a peer that restarts gets a new association with its cookie, and not before`() throws
  {
    var pair = AssociationPair()
    pair.run(for: .seconds(1))
    pair.hand(Self.makeInit(tag: 77, tsn: 5_000), to: 1)
    pair.run(for: .zero)
    let answer = try #require(pair.packets[1].last)
    let newTag = answer.span.bigEndian32(at: 16)
    #expect(answer.span.bigEndian32(at: 4) == 77 && newTag != 0xA000_0002)
    let isSent = pair.send([3], from: 0)
    pair.run(for: .seconds(1))
    #expect(isSent && pair.received[1] == [[3]], "the old association goes on")

    var wrong = try Self.cookie(of: answer)
    wrong[0] ^= 1
    pair.hand(SCTPPacket(tag: newTag, [Chunk(type: 10, value: wrong)]).bytes, to: 1)
    #expect(pair.sides[1].ownTag == 0xA000_0002)
    let echo = Chunk(type: 10, value: try Self.cookie(of: answer))
    pair.hand(SCTPPacket(tag: newTag, [echo, SCTPPacket.data(5_000, [4])]).bytes, to: 1)
    #expect(pair.received[1] == [[3], [4]])
    #expect(pair.sides[1].ownTag == newTag && pair.sides[1].peerTag == 77)
  }

  @Test func `a repeated INIT has the same answer, and a repeated cookie changes nothing`() throws {
    var pair = AssociationPair(.responder)
    for _ in 0..<2 {
      pair.hand(Self.makeInit(tag: 9, tsn: 1), to: 1)
      pair.run(for: .zero)
    }
    #expect(pair.packets[1].count == 2 && pair.packets[1][0] == pair.packets[1][1])
    let echo = Chunk(type: 10, value: try Self.cookie(of: pair.packets[1].last))
    let data = SCTPPacket.data(1, [4])
    for _ in 0..<2 {
      pair.hand(SCTPPacket(tag: 0xA000_0002, [echo, data]).bytes, to: 1)
    }
    pair.run(for: .zero)
    #expect(pair.received[1] == [[4]] && pair.sides[1].statistics.duplicates == 1)
    #expect(pair.packets[1].last.map { SCTPPacket($0).types } == [11, 11, 3])
  }

  /// Types 0x3FFF, 0x7FFF, 0xBFFF and 0xFFFF: only the last two let the parameter after them be
  /// read, and the second and the last are reported.
  @Test(arguments: [(0x3FFF, false), (0x7FFF, true), (0xBFFF, false), (0xFFFF, true)])
  func `unknown parameters are reported as their type asks`(type: UInt16, isReported: Bool) throws {
    var pair = AssociationPair(.responder)
    var unknown: [UInt8] = []
    unknown.appendParameter(type, length: 1)
    unknown += [9, 0, 0, 0]
    pair.hand(Self.makeInit(tag: 9, tsn: 1, unknown), to: 1)
    pair.run(for: .zero)
    let answer = SCTPPacket(try #require(pair.packets[1].last)).chunks[0].value
    let report: [UInt8] = [0, 8, 0, 9] + unknown
    #expect(answer.suffix(12).elementsEqual(report.prefix(12)) == isReported)
  }

  @Test func `parameters behind one that ends the reading are not read`() throws {
    var pair = AssociationPair(.responder)
    let end: [UInt8] = [0x3F, 0xFF, 0, 4]
    let packet = Self.makeInit(
      tag: 9, tsn: 1, supportsForward: false, end + SCTPPacket.words(0xC000_0004))
    pair.hand(packet, to: 1)
    pair.run(for: .zero)
    #expect(SCTPPacket(try #require(pair.packets[1].last)).types == [ChunkType.abort])
  }
}
