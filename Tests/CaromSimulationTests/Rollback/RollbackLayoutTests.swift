import AirHockey
import CaromCore
import Testing

@testable import CaromSimulation

/// The exact bytes of messages and files, as documented on the wire format page.
@Suite struct RollbackLayoutTests {
  @Test func `an input header without optional parts has the documented layout`() {
    let header = InputHeader(first: Tick(2_050), count: 4, acknowledged: Tick(2_053))
    // The first tick is 2,050 modulo 2,048 = 2, with 4 inputs. The acknowledged tick is 3 later:
    // zig-zag encoded 6, doubled 12.
    #expect(header.encoded == [0x02, 0x20, 0x0C])
  }

  @Test func `an input header with all optional parts has the documented layout`() {
    var header = InputHeader(first: Tick(5), count: 40, acknowledged: Tick(3))
    header.timing = .init(lead: 2, advantage: -16)
    header.confirmed = .init(offset: -1, hash: 0x0403_0201)
    header.context = 5
    #expect(
      header.encoded == [
        0x05, 0xF8, 9, 0x07, 0x07, 2, 0xF0, 0xFF, 0x01, 0x01, 0x02, 0x03, 0x04, 5,
      ])
  }

  @Test(
    arguments: [
      (5_000, 3_976, 3_976), (5_000, 6_023, 6_023), (5_000, 6_024, 3_976), (5_000, 3_975, 6_023),
      (10, 0, 0), (10, 2_047, 2_047), (1_023, 2_047, 2_047), (1_024, 2_048, 0),
    ] as [(UInt64, UInt64, UInt64)])
  func `a first tick lies from 1,024 before the needed tick to 1,023 after it, or is not negative`(
    needed: UInt64, first: UInt64, expanded: UInt64
  ) {
    let header = InputHeader(first: Tick(first), count: 1, acknowledged: Tick(first))
    #expect(header.first(near: Tick(needed)) == Tick(expanded))
  }

  @Test func `encoded inputs have the documented layout`() {
    let inputs = [(100, 0), (110, 0), (120, 0), (131, 0)].map { x, y in
      RinkInput(MalletInput(x: Int16(-5 * x), y: Int16(y)))
    }
    var coder = InputCoder<RinkInput>()
    var writer = PacketWriter()
    var bits = BitWriter()
    coder.encode(inputs.count, into: &writer, bits: &bits) { inputs[$0] }
    bits.finish(&writer)
    // x and presence change and y does not: 1 0 1. Then x is -100, zig-zag encoded 199; 200 has 8
    // bits, so the code is seven zeros and 11001000. Presence is 1, zig-zag encoded 2: 0 11. y is
    // omitted; the next input follows.
    #expect(writer.bytes == [0xA0, 0x32, 0x1A, 0x3A, 0x3A, 0x58])
  }

  @Test func `a state report has the documented layout`() {
    var description = SimulationDescription()
    description.entity("puck", 300)
    description.field("x", Int64(-2))
    let report = DesyncStateReport(
      tick: Tick(7), hashes: [0x0403_0201, 5], description: description, isAnswer: true)
    #expect(
      report.encoded == [
        1, 7, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 3, 4, 5, 0, 0, 0, 1, 0xAC, 0x02, 1, 0xFE, 0xFF, 0xFF,
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
      ])
  }

  @Test func `keyframes and disconnect messages have the documented layout`() {
    let keyframe = RollbackKeyframe(tick: Tick(9), players: 2, game: Rink()).encoded
    #expect(Array(keyframe.prefix(9)) == [9, 0, 0, 0, 0, 0, 0, 0, 2])
    #expect(keyframe.count == 17 + RinkState.encodedLength)
    let departure = PlayerDisconnect(player: 3, isAnswer: true, first: Tick(258), count: 4)
    #expect(departure.encoded == [3, 1, 2, 1, 0, 0, 0, 0, 0, 0, 4])
  }

  @Test func `peers can exchange messages as values`() throws {
    var sessions = (0...1).map {
      RollbackSession(Swarm(count: 2, seed: 1), RollbackConfiguration(local: $0), at: .zero)
    }
    for _ in 0..<30 {
      for player in 0...1 {
        sessions[player].advance(with: Swarm.Input(push: 5))
        while let (other, packet) = sessions[player].pollPacket() {
          let read = try makePacket(packet.encoded)
          #expect(read == packet)
          try sessions[other].receive(read, from: player, at: .zero)
        }
      }
    }
    #expect(sessions[0].rollback.confirmedTick == Tick(30))
    #expect(throws: DecodeError.self) { try makePacket([9]) }
    #expect(throws: DecodeError.self) { try makePacket([]) }
  }

  @Test func `a replay of two ticks has the documented layout`() {
    var swarm = Swarm(count: 0, seed: 1)
    var writer = ReplayWriter(swarm, players: 1, title: "hi", at: Tick(3))
    var events: [Swarm.Event] = []
    for push in [0, 1] as [Int32] {
      let inputs = [Swarm.Input(push: push)]
      swarm.step(inputs.span, events: &events)
      writer.append({ inputs[$0] }, leadingTo: swarm)
    }
    writer.finish(swarm)
    let hash = (0..<8).map { UInt8(truncatingIfNeeded: swarm.hash >> UInt64(8 * $0)) }
    let head: [UInt8] = [
      0x43, 0x52, 0x50, 0x4C, 1, 1, 2, 60, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0x68, 0x69,
    ]
    let state: [UInt8] = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    let file = writer.takeBytes()
    #expect(Array(file.prefix(20)) == head)
    // The push changes from 0 to 1 and the wish stays the same: 1 0, then 1, then 0 11, then
    // padding.
    let inputs: [UInt8] = [2, 6, 2, 0b1010_1100] + hash.prefix(4)
    #expect(Array(file[20...]) == [1, 24] + hash + state + inputs + [3, 9, 2] + hash)
  }

  private func makePacket(_ bytes: [UInt8]) throws(DecodeError) -> RollbackPacket {
    try RollbackPacket(decoding: bytes.span)
  }
}
