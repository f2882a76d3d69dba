import CaromCore
import Testing

@testable import CaromSimulation

/// How peers agree on the last input of a player who left; WireFormat, Rollback play.
@Suite struct DisconnectVoteTests {
  /// The session of player 0 of four, which starts at tick 100 and has advanced three times. Player
  /// 3 sent the inputs of two ticks.
  private func makeSession() throws -> RollbackSession<Swarm> {
    var configuration = RollbackConfiguration(players: 4, local: 0, window: 30, inputDelay: 0)
    configuration.start = Tick(100)
    var session = RollbackSession(
      Swarm(count: 4, players: 4, seed: 1), configuration, at: .zero)
    for _ in 0..<3 { session.advance(with: Swarm.Input()) }
    try session.receive(.neutralInputs(100, 2, needing: 100), from: 3, at: .zero)
    _ = poll(&session)
    return session
  }

  private func poll(_ session: inout RollbackSession<Swarm>) -> [Int: [RollbackPacket]] {
    var packets: [Int: [RollbackPacket]] = [:]
    while let (player, packet) = session.pollPacket() {
      packets[player, default: []].append(packet)
    }
    return packets
  }

  private func disconnects(_ session: inout RollbackSession<Swarm>) throws
    -> [Int: [PlayerDisconnect]]
  {
    try poll(&session).mapValues { packets in
      try packets.filter { $0.message == .disconnect }.map { packet in
        var reader = PacketReader(packet.bytes.span)
        return try PlayerDisconnect(decoding: &reader)
      }
    }.filter { !$0.value.isEmpty }
  }

  /// A message about `player` with `count` neutral inputs from tick 100 on.
  private func makeMessage(
    _ player: Int, _ count: Int, isAnswer: Bool = false
  ) -> RollbackPacket {
    let message = PlayerDisconnect(
      player: player, isAnswer: isAnswer, first: Tick(100), count: count)
    return RollbackPacket(.disconnect, message.encoded + [0])
  }

  @Test func `a player counts as gone once all remaining peers said what they have of it`() throws {
    var session = try makeSession()
    session.disconnect(player: 3)
    let sent = try disconnects(&session)
    let message = PlayerDisconnect(player: 3, isAnswer: false, first: Tick(100), count: 2)
    #expect(sent[1] == [message] && sent[2] == [message] && sent[3]?.count == 1)
    #expect(try disconnects(&session).isEmpty)
    try session.receive(makeMessage(3, 5), from: 1, at: .zero)
    #expect(session.rollback.disconnectTicks[3] == nil)
    let answer = PlayerDisconnect(player: 3, isAnswer: true, first: Tick(100), count: 5)
    #expect(try disconnects(&session) == [1: [answer]])
    try session.receive(makeMessage(3, 1), from: 2, at: .zero)
    // Player 1 had the most inputs: those of the ticks 100 to 104.
    #expect(session.rollback.disconnectTicks[3] == Tick(105))
    // What comes later does not change the agreement.
    try session.receive(makeMessage(3, 9), from: 2, at: .zero)
    #expect(session.rollback.disconnectTicks[3] == Tick(105))
    #expect(session.rollback.buffers[3].end == Tick(105))
  }

  @Test func `an invalid message about the local player does not end its match`() throws {
    var session = try makeSession()
    let valid = makeMessage(0, 2)
    var unknownFlags = valid.bytes
    unknownFlags[1] = 2
    var invalid = [unknownFlags, valid.bytes + [0], valid.bytes.dropLast()]
    invalid.append(valid.bytes.dropLast() + [1])
    for bytes in invalid {
      #expect(throws: DecodeError.self) {
        try session.receive(.disconnect, bytes.span, from: 1, at: .zero)
      }
      #expect(!session.isDisconnected && session.lastHeard(1) == nil)
    }
    try session.receive(valid, from: 1, at: .zero)
    #expect(session.isDisconnected && session.lastHeard(1) == .zero)
    #expect(session.rollback.disconnectTicks == [nil, nil, nil, nil])
  }

  @Test func `a message about a player disconnects it here too`() throws {
    var session = try makeSession()
    try session.receive(makeMessage(3, 1), from: 1, at: .zero)
    let sent = try disconnects(&session)
    #expect(Set(sent.keys) == [1, 2, 3])
    #expect(sent[1]?.map(\.isAnswer) == [true] && sent[2]?.map(\.isAnswer) == [false])
    #expect(sent[2]?.map(\.count) == [2])
    // Messages of a player who is being disconnected are ignored.
    try session.receive(.neutralInputs(102, 2, needing: 100), from: 3, at: .zero)
    #expect(session.rollback.buffers[3].end == Tick(102))
    session.advance(with: Swarm.Input())
    #expect(poll(&session)[3] == nil)
  }

  @Test func `nobody waits for players who left at the same time`() throws {
    for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
      var session = try makeSession()
      for player in order { session.disconnect(player: player) }
      let ticks = session.rollback.disconnectTicks
      #expect(ticks == [nil, Tick(100), Tick(100), Tick(102)])
      for _ in 0..<40 { session.advance(with: Swarm.Input()) }
      #expect(session.rollback.statistics.stalls == 0)
    }
    var session = try makeSession()
    session.disconnect(player: 3)
    session.disconnect(player: 2)
    #expect(session.rollback.disconnectTicks == [nil, nil, nil, nil])
    try session.receive(makeMessage(3, 2), from: 1, at: .zero)
    #expect(session.rollback.disconnectTicks == [nil, nil, nil, Tick(102)])
    try session.receive(makeMessage(2, 0), from: 1, at: .zero)
    #expect(session.rollback.disconnectTicks == [nil, nil, Tick(100), Tick(102)])
  }

  @Test func `an unanswered message is repeated every 10 ticks, 60 times`() throws {
    var session = try makeSession()
    session.disconnect(player: 3)
    _ = poll(&session)
    try session.receive(makeMessage(3, 2, isAnswer: true), from: 2, at: .zero)
    var sent: [Int: [Int]] = [:]
    for tick in 1...700 {
      session.advance(with: Swarm.Input())
      for (player, messages) in try disconnects(&session) {
        sent[player, default: []] += messages.map { _ in tick }
      }
    }
    let expected = (1...60).map { 10 * $0 }
    #expect(sent == [1: expected, 3: expected])
  }

  @Test func `the local player learns that it was disconnected`() throws {
    var session = try makeSession()
    #expect(!session.isDisconnected)
    try session.receive(makeMessage(0, 1), from: 1, at: .zero)
    #expect(session.isDisconnected)
    #expect(try disconnects(&session).isEmpty)
  }

  @Test func `an invalid message changes nothing`() throws {
    var session = try makeSession()
    let invalid: [(RollbackPacket, DecodeError)] = [
      (makeMessage(1, 1), .invalid(what: "player")), (makeMessage(4, 1), .invalid(what: "player")),
      (makeMessage(255, 1), .invalid(what: "player")),
      (makeMessage(3, 128), .tooLarge(length: 128, limit: 127)),
    ]
    for (packet, error) in invalid {
      #expect(throws: error) { try session.receive(packet, from: 1, at: .zero) }
    }
    var bytes = makeMessage(3, 1).bytes
    bytes[1] = 2
    #expect(throws: DecodeError.invalid(what: "disconnect flags")) {
      try session.receive(.disconnect, bytes.span, from: 1, at: .zero)
    }
    bytes = makeMessage(3, 1).bytes
    for wrong in [bytes + [0], bytes.dropLast() + [1], bytes.dropLast()] {
      #expect(throws: DecodeError.self) {
        try session.receive(.disconnect, wrong.span, from: 1, at: .zero)
      }
    }
    bytes[2] = 103
    #expect(throws: DecodeError.invalid(what: "first tick")) {
      try session.receive(.disconnect, bytes.span, from: 1, at: .zero)
    }
    #expect(session.votes.allSatisfy { $0 == nil } && !session.isDisconnected)
    #expect(session.lastHeard(1) == nil)
    try session.receive(makeMessage(3, 127), from: 1, at: .zero)
    #expect(session.rollback.buffers[3].end == Tick(227))
  }
}
