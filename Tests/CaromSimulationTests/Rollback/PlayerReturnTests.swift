import CaromCore
import CaromTesting
import Testing

@testable import CaromSimulation

/// Players who come back to a match without a server.
@Suite struct PlayerReturnTests {
  /// Three players whose messages arrive at once, in one process.
  private struct Table {
    typealias Message = (from: Int, to: Int, kind: RollbackMessage, bytes: [UInt8])

    var sessions: [RollbackSession<Swarm>]
    /// The players whose machines are switched off.
    var gone: Set<Int> = []
    /// Whether messages about returns are kept instead of delivered.
    var keepsReturns = false
    var kept: [Message] = []
    /// The messages about disconnected players so far.
    var disconnects: [Message] = []
    var hands = (0..<3).map { SwarmHand(seed: UInt64($0)) }

    init() {
      sessions = (0..<3).map { player in
        RollbackSession(
          Swarm(count: 12, players: 3, seed: 3),
          RollbackConfiguration(players: 3, local: player, window: 10, inputDelay: 2), at: .zero)
      }
    }

    mutating func play(_ ticks: Int) throws {
      for _ in 0..<ticks {
        for player in 0..<3 where !gone.contains(player) {
          sessions[player].advance(with: hands[player].input())
        }
        try exchange()
      }
    }

    private mutating func exchange() throws {
      var messages: [Message] = []
      repeat {
        messages = []
        for player in 0..<3 where !gone.contains(player) {
          var writer = PacketWriter()
          while let transmit = sessions[player].pollTransmit(into: &writer) {
            messages.append((player, transmit.player, transmit.message, writer.bytes))
            writer.removeAll()
          }
        }
        for message in messages { try deliver(message) }
      } while !messages.isEmpty
    }

    mutating func deliver(_ message: Message) throws {
      if message.kind == .disconnect { disconnects.append(message) }
      if message.kind == .reconnect, keepsReturns { return kept.append(message) }
      guard !gone.contains(message.to) else { return }
      try sessions[message.to].receive(
        message.kind, message.bytes.span, from: message.from, at: .zero)
    }

    /// Plays until player 2 has gone and been disconnected, and its return has begun. Returns the
    /// tick of the return.
    mutating func playUntilReturn(absence: Int) throws -> Tick {
      try play(60)
      gone = [2]
      sessions[0].disconnect(player: 2)
      let early = sessions[0].reconnect(player: 2)
      #expect(early == nil, "the peers have not agreed yet")
      try play(absence)
      return try beginReturn(of: 2)
    }

    mutating func beginReturn(of player: Int) throws -> Tick {
      let tick = sessions[0].reconnect(player: player)
      return try #require(tick)
    }

    /// Lets player 2 begin at the tick of its return.
    mutating func seat(at tick: Tick) throws {
      let state = try #require(sessions[0].rollback.state(at: tick))
      var configuration = RollbackConfiguration(players: 3, local: 2, window: 10, inputDelay: 2)
      configuration.start = tick
      let message = sessions[0].returnMessage(of: 2, at: tick)
      sessions[2] = RollbackSession(state, configuration, returning: message, at: .zero)
      gone = []
    }

    /// Checks that all three have the same state at the last tick that all have confirmed.
    func expectAgreement(after tick: Tick) throws {
      let last = try #require(sessions.map(\.rollback.confirmedTick).min())
      #expect(tick.distance(to: last) > 60)
      let hashes = sessions.map { $0.rollback.hash(at: last) }
      #expect(hashes[0] != nil && Set(hashes).count == 1)
    }
  }

  /// After a long absence, the inputs before it are forgotten.
  @Test(arguments: [20, 400])
  func `a player who comes back plays from the same tick on for all`(absence: Int) throws {
    var table = Table()
    let tick = try table.playUntilReturn(absence: absence)
    try table.play(40)
    #expect(table.sessions[0].rollback.confirmedTick == tick)
    #expect(table.sessions[1].rollback.confirmedTick == tick)
    try table.seat(at: tick)
    try table.play(100)
    try table.expectAgreement(after: tick)
    let areEqual = table.sessions.allSatisfy { $0.desyncs.isEmpty }
    #expect(areEqual)
    let at = tick.advanced(by: 50)
    let own = table.sessions[2].rollback.knownInput(for: 2, at: at)
    #expect(own != nil && table.sessions[1].rollback.knownInput(for: 2, at: at) == own)
    // It can leave and come back again.
    table.gone = [2]
    table.sessions[1].disconnect(player: 2)
    try table.play(30)
    let again = try table.beginReturn(of: 2)
    try table.play(40)
    try table.seat(at: again)
    try table.play(100)
    try table.expectAgreement(after: again)
  }

  @Test func `no peer confirms the tick of a return before it has agreed to it`() throws {
    var table = Table()
    table.keepsReturns = true
    let tick = try table.playUntilReturn(absence: 20)
    try table.play(60)
    #expect(table.sessions[1].rollback.confirmedTick <= tick)
    table.keepsReturns = false
    let kept = table.kept
    #expect(kept.count == 1)
    for message in kept { try table.deliver(message) }
    try table.play(20)
    #expect(table.sessions[0].rollback.confirmedTick == tick)
    try table.seat(at: tick)
    try table.play(100)
    try table.expectAgreement(after: tick)
  }

  @Test func `messages from before a return neither end it nor disturb it`() throws {
    var table = Table()
    let tick = try table.playUntilReturn(absence: 20)
    try table.play(40)
    try table.seat(at: tick)
    for message in table.disconnects where message.to != 2 { try table.deliver(message) }
    let stale = InputHeader(first: Tick(70), count: 0, acknowledged: Tick(70))
    try table.sessions[1].receive(.inputs, stale.encoded.span, from: 2, at: .zero)
    try table.sessions[2].receive(.inputs, stale.encoded.span, from: 1, at: .zero)
    try table.play(100)
    try table.expectAgreement(after: tick)
  }

  @Test func `a player who returns learns who is absent, and lets them return in turn`() throws {
    var table = Table()
    try table.play(30)
    table.gone = [1, 2]
    table.sessions[0].disconnect(player: 1)
    table.sessions[0].disconnect(player: 2)
    try table.play(20)
    let tick = try table.beginReturn(of: 2)
    try table.play(40)
    try table.seat(at: tick)
    table.gone = [1]
    try table.play(80)
    #expect(table.sessions[2].rollback.confirmedTick > tick.advanced(by: 60))
    let next = try table.beginReturn(of: 1)
    try table.play(40)
    let state = try #require(table.sessions[0].rollback.state(at: next))
    var configuration = RollbackConfiguration(players: 3, local: 1, window: 10, inputDelay: 2)
    configuration.start = next
    let message = table.sessions[0].returnMessage(of: 1, at: next)
    #expect(message.absent == 0)
    table.sessions[1] = RollbackSession(state, configuration, returning: message, at: .zero)
    table.gone = []
    try table.play(100)
    try table.expectAgreement(after: next)
  }

  @Test func `only player 0 lets players return, and to a tick that is near`() throws {
    var table = Table()
    _ = try table.playUntilReturn(absence: 20)
    let now = table.sessions[1].rollback.tick
    let confirmed = table.sessions[1].rollback.confirmedTick
    for tick in [confirmed.advanced(by: -1), now.advanced(by: 1_025)] {
      let message = PlayerReturn(player: 2, tick: tick)
      #expect(throws: DecodeError.invalid(what: "return's tick")) {
        try table.sessions[1].receive(.reconnect, message.encoded.span, from: 0, at: .zero)
      }
    }
    for player in [0, 1, 3] {
      let message = PlayerReturn(player: player, tick: now.next)
      #expect(throws: DecodeError.invalid(what: "player")) {
        try table.sessions[1].receive(.reconnect, message.encoded.span, from: 0, at: .zero)
      }
    }
    let message = PlayerReturn(player: 2, tick: now.next)
    #expect(throws: DecodeError.invalid(what: "return")) {
      try table.sessions[0].receive(.reconnect, message.encoded.span, from: 1, at: .zero)
    }
  }

  @Test func `a message has the documented layout`() throws {
    var message = PlayerReturn(player: 2, tick: Tick(0x0102))
    message.isAnswer = true
    message.ahead = 7
    message.absent = 0b10
    let bytes: [UInt8] = [2, 1, 2, 1, 0, 0, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 0, 0, 0]
    #expect(message.encoded == bytes)
    #expect(try PlayerReturn(decoding: bytes.span) == message)
    for (index, value) in [(0, 64), (1, 2)] as [(Int, UInt8)] {
      var wrong = bytes
      wrong[index] = value
      #expect(throws: DecodeError.self) { try PlayerReturn(decoding: wrong.span) }
    }
  }
}
