import CaromCore
import Testing

@testable import CaromSimulation

/// What a client accepts from a server; see the section Rollback play of the wire format page.
@Suite struct RollbackClientTests {
  /// A player's client that started from the keyframe of tick 100 and has sent its inputs of the
  /// ticks 100 to 104.
  private func makeClient() throws -> RollbackClient<Swarm> {
    var client = RollbackClient<Swarm>(player: 0, at: .zero)
    try client.receive(.keyframe(of: 100), at: .zero)
    for _ in 0..<4 { client.advance(with: Swarm.Input(push: 7)) }
    let packet = client.pollPacket()
    let header = try #require(packet).inputHeader()
    #expect(header.first == 100 && header.count == 5)
    return client
  }

  @Test func `a server can confirm all inputs that the client sent, and none beyond them`() throws {
    var client = try makeClient()
    #expect(throws: DecodeError.invalid(what: "local inputs")) {
      try client.receive(.neutralInputs(100, 6, needing: 105), at: .zero)
    }
    #expect(client.rollback?.confirmableTick == Tick(100))
    try client.receive(.neutralInputs(100, 5, needing: 105), at: .zero)
    #expect(client.rollback?.confirmableTick == Tick(105))
    #expect(client.rollback?.knownInput(for: 0, at: Tick(104)) == Swarm.Input(push: 7))
  }

  @Test func `a server can need the tick after the last one sent, and none beyond it`() throws {
    var client = try makeClient()
    #expect(throws: DecodeError.invalid(what: "acknowledged tick")) {
      try client.receive(.neutralInputs(100, 1, needing: 106), at: .zero)
    }
    #expect(client.rollback?.confirmableTick == Tick(100))
    try client.receive(.neutralInputs(100, 1, needing: 105), at: .zero)
    #expect(client.rollback?.confirmableTick == Tick(101))
  }

  @Test func `a keyframe older than the client's is ignored, and a newer one restarts the game`()
    throws
  {
    var client = try makeClient()
    try client.receive(.keyframe(of: 99), at: .zero)
    #expect(client.keyframeCount == 1)
    #expect(client.rollback?.confirmedTick == Tick(100))
    #expect(client.rollback?.tick == Tick(105))
    try client.receive(.keyframe(of: 101), at: .zero)
    #expect(client.keyframeCount == 2)
    #expect(client.rollback?.confirmedTick == Tick(101))
  }

  @Test func `after dropping 30 packets in a row a client requests a keyframe`() throws {
    var client = try makeClient()
    let afterGap = RollbackPacket.neutralInputs(110, 1, needing: 105)
    let beforeKeyframe = RollbackPacket.neutralInputs(99, 1, needing: 100)
    for _ in 0..<29 { try client.receive(beforeKeyframe, at: .zero) }
    try client.receive(.neutralInputs(100, 2, needing: 105), at: .zero)
    for index in 0..<29 {
      try client.receive(index % 2 == 0 ? afterGap : beforeKeyframe, at: .zero)
    }
    #expect(client.pollPacket() == nil)
    try client.receive(afterGap, at: .zero)
    #expect(client.pollPacket() == RollbackPacket(.keyframe, []))
    #expect(client.pollPacket() == nil)
    // The next request follows after 30 more.
    for _ in 0..<29 { try client.receive(afterGap, at: .zero) }
    #expect(client.pollPacket() == nil)
    try client.receive(afterGap, at: .zero)
    #expect(client.pollPacket() == RollbackPacket(.keyframe, []))
  }

  @Test func `a client without a keyframe requests one after dropping 30 packets`() throws {
    var client = RollbackClient<Swarm>(player: 0, at: .zero)
    for count in 1...30 {
      #expect(client.pollPacket() == nil)
      try client.receive(.neutralInputs(100, 1, needing: 100), at: .zero)
      client.advance()
      #expect(client.pollPacket() == (count < 30 ? nil : RollbackPacket(.keyframe, [])))
    }
  }
}
