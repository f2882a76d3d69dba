import CaromCore
import Testing

@testable import CaromSimulation

/// What a client accepts from a server; see the section Rollback play of the wire format page.
@Suite struct RollbackClientTests {
  /// A player's client that started from the keyframe of tick 100 and has sent its inputs of the
  /// ticks 100 to 104.
  private func makeClient() throws -> RollbackClient<Swarm> {
    var client = RollbackClient<Swarm>(player: 0, at: .zero)
    try client.receive(makeKeyframe(of: Tick(100)), at: .zero)
    for _ in 0..<4 { client.advance(with: Swarm.Input(push: 7)) }
    let packet = client.pollPacket()
    let bytes = try #require(packet).bytes
    var reader = PacketReader(bytes.span)
    let header = try InputHeader(decoding: &reader)
    #expect(header.first == 100 && header.count == 5)
    return client
  }

  private func makeKeyframe(of tick: Tick) -> RollbackPacket {
    let keyframe = RollbackKeyframe(tick: tick, players: 2, game: Swarm(count: 4, seed: 1))
    return RollbackPacket(.keyframe, keyframe.encoded)
  }

  /// Makes a server's packet with neutral inputs of player 1. Bit 0 says that the inputs of player
  /// 0, the receiver, are as it sent them.
  private func makeInputs(from first: Tick, _ count: Int, needing needed: Tick) -> RollbackPacket {
    var header = InputHeader(first: first, count: count, acknowledged: needed)
    header.context = 0
    return RollbackPacket(.inputs, header.encoded + [0])
  }

  @Test func `a server can confirm all inputs that the client sent, and none beyond them`() throws {
    var client = try makeClient()
    #expect(throws: DecodeError.invalid(what: "local inputs")) {
      try client.receive(makeInputs(from: Tick(100), 6, needing: Tick(105)), at: .zero)
    }
    #expect(client.rollback?.confirmableTick == Tick(100))
    try client.receive(makeInputs(from: Tick(100), 5, needing: Tick(105)), at: .zero)
    #expect(client.rollback?.confirmableTick == Tick(105))
    #expect(client.rollback?.knownInput(for: 0, at: Tick(104)) == Swarm.Input(push: 7))
  }

  @Test func `a server can need the tick after the last one sent, and none beyond it`() throws {
    var client = try makeClient()
    #expect(throws: DecodeError.invalid(what: "acknowledged tick")) {
      try client.receive(makeInputs(from: Tick(100), 1, needing: Tick(106)), at: .zero)
    }
    #expect(client.rollback?.confirmableTick == Tick(100))
    try client.receive(makeInputs(from: Tick(100), 1, needing: Tick(105)), at: .zero)
    #expect(client.rollback?.confirmableTick == Tick(101))
  }

  @Test func `a keyframe older than the client's is ignored, and a newer one restarts the game`()
    throws
  {
    var client = try makeClient()
    try client.receive(makeKeyframe(of: Tick(99)), at: .zero)
    #expect(client.keyframeCount == 1)
    #expect(client.rollback?.confirmedTick == Tick(100))
    #expect(client.rollback?.tick == Tick(105))
    try client.receive(makeKeyframe(of: Tick(101)), at: .zero)
    #expect(client.keyframeCount == 2)
    #expect(client.rollback?.confirmedTick == Tick(101))
  }

  @Test func `after dropping 30 packets in a row a client requests a keyframe`() throws {
    var client = try makeClient()
    let afterGap = makeInputs(from: Tick(110), 1, needing: Tick(105))
    let beforeKeyframe = makeInputs(from: Tick(99), 1, needing: Tick(100))
    for _ in 0..<29 { try client.receive(beforeKeyframe, at: .zero) }
    try client.receive(makeInputs(from: Tick(100), 2, needing: Tick(105)), at: .zero)
    for index in 0..<29 {
      try client.receive(index % 2 == 0 ? afterGap : beforeKeyframe, at: .zero)
    }
    #expect(client.pollPacket() == nil)
    try client.receive(afterGap, at: .zero)
    #expect(client.pollPacket() == RollbackPacket(.keyframe, []))
    #expect(client.pollPacket() == nil)
  }

  @Test func `a client without a keyframe requests one after dropping 30 packets`() throws {
    var client = RollbackClient<Swarm>(player: 0, at: .zero)
    for count in 1...30 {
      #expect(client.pollPacket() == nil)
      try client.receive(makeInputs(from: Tick(100), 1, needing: Tick(100)), at: .zero)
      client.advance()
      #expect(client.pollPacket() == (count < 30 ? nil : RollbackPacket(.keyframe, [])))
    }
  }
}
