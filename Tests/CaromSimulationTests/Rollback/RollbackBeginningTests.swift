import CaromCore
import CaromTesting
import Testing

@testable import CaromSimulation

@Suite struct RollbackBeginningTests {
  @Test func `a client with an unknown round trip sends its inputs in time after two round trips`()
  {
    var match = ServerMatch(
      Swarm(count: 10, seed: 3), seed: 1, conditions: LinkConditions(oneWay: .milliseconds(100)))
    match.join(0)
    var hand = SwarmHand(seed: 1)
    match.play(until: .zero + .seconds(6)) { _, _ in hand.input() }
    #expect(match.server.missedInputs(of: 0) < 40)
    let ahead = match.server.tick.distance(to: match.seats[0].client.rollback?.tick ?? .zero)
    #expect((6...10).contains(ahead))
  }

  @Test func `a client whose keyframe was delayed sends its inputs in time within a second`() throws
  {
    var now = Instant.zero
    var server = RollbackServer(Swarm(count: 10, seed: 3), players: 2, at: now)
    let number = server.addPlayer(0)
    var client = RollbackClient<Swarm>(player: 0, at: now)
    var hand = SwarmHand(seed: 1)
    var keyframe: [UInt8] = []
    for round in 1...120 {
      now = now.advanced(byNanoseconds: 16_666_667)
      for _ in 0..<server.takeDueTicks(at: now) { server.advance() }
      while let (_, packet) = server.pollPacket() {
        if packet.message == .keyframe { keyframe = packet.bytes }
        if packet.message == .inputs { try client.receive(packet, at: now) }
      }
      if round == 20 { try client.receive(.keyframe, keyframe.span, at: now) }
      for _ in 0..<client.takeDueTicks(at: now) { client.advance(with: hand.input()) }
      while let packet = client.pollPacket() {
        if packet.message == .inputs { try server.receive(packet, from: number, at: now) }
      }
    }
    #expect(server.missedInputs(of: 0) < 10)
    #expect(client.rollback?.confirmedTick == server.tick)
  }
}
