import CaromCore
import Testing

@testable import CaromSimulation

/// What a session sends to its peers and accepts from them; WireFormat, Rollback play.
@Suite struct RollbackSessionMessageTests {
  /// A session of player 0 with `players` players that starts at tick 100 and has advanced once.
  private func makeSession(
    players: Int = 2, detectsDesync: Bool = true
  ) -> RollbackSession<Swarm> {
    var configuration = RollbackConfiguration(
      players: players, local: 0, window: 30, inputDelay: 0)
    configuration.start = Tick(100)
    configuration.detectsDesync = detectsDesync
    var session = RollbackSession(
      Swarm(count: 2, players: players, seed: 1), configuration, at: .zero)
    session.advance(with: Swarm.Input(push: 3))
    return session
  }

  /// The headers of the input packets to a player that are due.
  private func pollInputs(
    _ session: inout RollbackSession<Swarm>, to player: Int = 1
  ) throws -> [InputHeader] {
    var headers: [InputHeader] = []
    while let (recipient, packet) = session.pollPacket() {
      guard recipient == player, packet.message == .inputs else { continue }
      headers.append(try packet.inputHeader())
    }
    return headers
  }

  @Test func `a needed tick lies from the first tick to the one after the last input sent`() throws
  {
    for (needed, isValid) in [(99, false), (100, true), (101, true), (102, false)] {
      var session = makeSession()
      let packet = RollbackPacket.neutralInputs(100, 1, needing: UInt64(needed))
      if isValid {
        try session.receive(packet, from: 1, at: .zero)
        #expect(session.rollback.buffers[1].end == Tick(101))
      } else {
        #expect(throws: DecodeError.invalid(what: "acknowledged tick")) {
          try session.receive(packet, from: 1, at: .zero)
        }
        #expect(session.rollback.buffers[1].end == Tick(100))
      }
    }
  }

  @Test func `a session repeats its inputs until the peer needs later ones`() throws {
    var session = makeSession()
    for _ in 0..<4 { session.advance(with: Swarm.Input(push: 3)) }
    var headers = try pollInputs(&session)
    #expect(headers.map(\.first) == [100] && headers.map(\.count) == [5])
    #expect(headers.map(\.acknowledged) == [0] && headers.map(\.context) == [0])
    #expect(try pollInputs(&session).isEmpty)
    try session.receive(.neutralInputs(100, 2, needing: 103), from: 1, at: .zero)
    session.advance(with: Swarm.Input(push: 3))
    headers = try pollInputs(&session)
    #expect(headers.map(\.first) == [103] && headers.map(\.count) == [3])
    // The session needs tick 102, one before the first that it sends.
    #expect(headers.map(\.acknowledged) == [-1] && headers.map(\.context) == [3])
    // An acknowledgement that was overtaken does not move back.
    try session.receive(.neutralInputs(100, 3, needing: 101), from: 1, at: .zero)
    session.advance(with: Swarm.Input(push: 3))
    #expect(try pollInputs(&session).map(\.first) == [103])
  }

  @Test func `the first 32 packets carry timing, and then every fourth`() throws {
    var session = makeSession()
    var timed: [Bool] = []
    for index in 0..<60 {
      timed += try pollInputs(&session).map { $0.timing != nil }
      let tick = UInt64(100 + index)
      try session.receive(.neutralInputs(tick, 1, needing: tick + 1), from: 1, at: .zero)
      session.advance(with: Swarm.Input())
    }
    #expect(timed == (0..<60).map { $0 < 32 || $0 % 4 == 0 })
  }

  @Test func `the lead is by how much the newest input is ahead of the sender's tick`() throws {
    var configuration = RollbackConfiguration(local: 0, window: 10, inputDelay: 5)
    configuration.start = Tick(100)
    var session = RollbackSession(Swarm(count: 2, seed: 1), configuration, at: .zero)
    session.advance(with: Swarm.Input())
    // The inputs of the ticks 100 to 105 are known, and the next tick is 101.
    #expect(try pollInputs(&session).map { $0.timing?.lead } == [4])
  }

  @Test func `the advantage is measured from the newest tick of a peer, whatever arrives later`()
    throws
  {
    var session = makeSession()
    for _ in 0..<9 { session.advance(with: Swarm.Input()) }
    // The session's tick is 110. The peer's is the last tick with an input, minus the lead.
    let first = RollbackPacket.neutralInputs(
      100, 6, needing: 100, timing: .init(lead: 1, advantage: 32))
    try session.receive(first, from: 1, at: .zero)
    #expect(session.peers[1].sync.advantage == 6 && session.peers[1].sync.peerAdvantage == 2)
    #expect(session.lead == 2)
    for packet in [
      first, .neutralInputs(100, 3, needing: 100, timing: .init(lead: 0, advantage: -320)),
    ] {
      try session.receive(packet, from: 1, at: .zero)
    }
    #expect(session.peers[1].sync.advantage == 6 && session.peers[1].sync.peerAdvantage == 2)
    let newer = RollbackPacket.neutralInputs(
      100, 9, needing: 100, timing: .init(lead: 2, advantage: 64))
    try session.receive(newer, from: 1, at: .zero)
    #expect(session.peers[1].sync.advantage == 5 && session.peers[1].sync.peerAdvantage == 3)
  }

  @Test func `inputs after a gap are dropped`() throws {
    var session = makeSession()
    try session.receive(.neutralInputs(101, 1, needing: 101), from: 1, at: .zero)
    #expect(session.rollback.buffers[1].end == Tick(100))
    #expect(session.peers[1].acknowledged == Tick(100))
    try session.receive(.neutralInputs(100, 1, needing: 101), from: 1, at: .zero + .seconds(2))
    #expect(session.rollback.buffers[1].end == Tick(101))
    #expect(session.peers[1].acknowledged == Tick(101))
    #expect(session.lastHeard(1) == .zero + .seconds(2))
  }

  @Test func `an invalid message changes nothing`() throws {
    var session = makeSession()
    let timing = InputHeader.Timing(lead: 0, advantage: 16)
    let late = InputHeader.Confirmed(offset: 129, hash: 7)
    let valid = RollbackPacket.neutralInputs(100, 1, needing: 101, timing: timing)
    let unknown = RollbackPacket.neutralInputs(
      100, 1, needing: 101, timing: timing, confirmed: late)
    let invalid = [
      valid.bytes + [0], valid.bytes.dropLast() + [1], valid.bytes.dropLast(), unknown.bytes,
    ]
    for bytes in invalid {
      #expect(throws: DecodeError.self) {
        try session.receive(.inputs, bytes.span, from: 1, at: .zero)
      }
      #expect(session.rollback.buffers[1].end == Tick(100))
      #expect(session.peers[1].acknowledged == Tick(100))
      #expect(session.peers[1].sync.offset == nil && session.lastHeard(1) == nil)
    }
    try session.receive(valid, from: 1, at: .zero)
    #expect(session.peers[1].acknowledged == Tick(101) && session.peers[1].sync.offset != nil)
  }

  @Test func `a peer that never acknowledges an input gets the oldest stored ones`() throws {
    var session = makeSession()
    for index in 0..<300 {
      let tick = UInt64(100 + index)
      try session.receive(.neutralInputs(tick, 1, needing: 100), from: 1, at: .zero)
      session.advance(with: Swarm.Input(push: Int32(index % 90)))
      let headers = try pollInputs(&session)
      let header = try #require(headers.first)
      // There are index + 2 inputs, of which 256 are stored.
      let first = 100 + max(0, index + 2 - 256)
      #expect(header.first == UInt16(first) && header.context == 0)
      #expect(header.count == min(127, index + 2))
    }
    // Of the inputs before the first that the peer needs, those that are stored are the context.
    let oldest = Int64(300 + 1 - 256)
    try session.receive(
      .neutralInputs(400, 1, needing: UInt64(100 + oldest + 8)), from: 1, at: .zero)
    session.advance(with: Swarm.Input())
    #expect(try pollInputs(&session).map(\.context) == [7])
  }

  @Test func `a keyframe between peers is invalid, and messages that name no peer are ignored`()
    throws
  {
    var session = makeSession()
    #expect(throws: DecodeError.invalid(what: "keyframe between peers")) {
      try session.receive(RollbackPacket(.keyframe, []), from: 1, at: .zero)
    }
    try session.receive(.neutralInputs(100, 1, needing: 100), from: 0, at: .zero)
    #expect(session.rollback.buffers[0].end == Tick(101) && session.lastHeard(0) == nil)
  }

  @Test func `the hash of the newest confirmed state is sent once to each peer`() throws {
    for detectsDesync in [true, false] {
      var session = makeSession(detectsDesync: detectsDesync)
      #expect(try pollInputs(&session).map(\.confirmed) == [nil])
      try session.receive(.neutralInputs(100, 2, needing: 100), from: 1, at: .zero)
      session.advance(with: Swarm.Input(push: 3))
      let hash = session.rollback.hash(at: Tick(102)).map { UInt32(truncatingIfNeeded: $0) }
      let sent = try pollInputs(&session).map(\.confirmed)
      #expect(sent == [detectsDesync ? .init(offset: 2, hash: try #require(hash)) : nil])
      session.advance(with: Swarm.Input(push: 3))
      #expect(try pollInputs(&session).map(\.confirmed) == [nil])
    }
  }

  @Test func `a peer's hash is compared if its tick is known, and at most 127 ticks ahead`() throws
  {
    for (offset, isValid) in [(-1, false), (0, true), (128, true), (129, false)] as [(Int64, Bool)]
    {
      var session = makeSession()
      let confirmed = InputHeader.Confirmed(offset: offset, hash: 7)
      let packet = RollbackPacket.neutralInputs(100, 1, needing: 100, confirmed: confirmed)
      if isValid {
        try session.receive(packet, from: 1, at: .zero)
      } else {
        #expect(throws: DecodeError.invalid(what: "hash's tick")) {
          try session.receive(packet, from: 1, at: .zero)
        }
      }
      let isFound = session.peers[1].detector.reported != nil
      #expect(isFound == (offset == 0))
      var careless = makeSession(detectsDesync: false)
      try careless.receive(packet, from: 1, at: .zero)
      #expect(careless.peers[1].detector.reported == nil)
    }
  }

  @Test func `a report of a state that differs is answered, and named once`() throws {
    var session = makeSession()
    try session.receive(.neutralInputs(100, 1, needing: 100), from: 1, at: .zero)
    session.advance(with: Swarm.Input(push: 3))
    var description = SimulationDescription()
    session.rollback.state(at: Tick(101))?.describe(into: &description)
    let first = try #require(session.rollback.hash(at: Tick(100)))
    var report = DesyncStateReport(
      tick: Tick(101), hashes: [5, UInt32(truncatingIfNeeded: first)], description: description,
      isAnswer: false)
    report.entities[0].values[1] += 1
    while session.pollPacket() != nil {}
    for _ in 0..<2 {
      try session.receive(RollbackPacket(.stateReport, report.encoded), from: 1, at: .zero)
    }
    let dueDesync = session.pollDesync()
    let desync = try #require(dueDesync)
    #expect(desync.player == 1 && desync.tick == Tick(101))
    #expect(desync.differences.map(\.field) == ["y"])
    #expect(session.pollDesync() == nil)
    let dueAnswer = session.pollPacket()?.packet
    let answer = try #require(dueAnswer)
    #expect(answer.message == .stateReport)
    let own = try DesyncStateReport(decoding: answer.bytes.span)
    #expect(own.isAnswer && own.tick == Tick(101) && own.hashes.count == 2)
    #expect(own.hashes[1] == UInt32(truncatingIfNeeded: first))
    #expect(own.entities[0].values[1] == report.entities[0].values[1] - 1)
    #expect(session.pollPacket() == nil)
  }

  @Test func `after the speed was set from the lead, ticks are due earlier or later`() {
    var session = makeSession()
    session.peers[1].sync.recordPeerTick(Tick(100), at: Tick(108), fraction: 0)
    session.peers[1].sync.recordPeerAdvantage(-12)
    #expect(session.lead == 10)
    #expect(session.takeDueTicks(at: .zero) == 0)
    #expect(session.speed == 950_000)
    #expect(session.takeDueTicks(at: .zero + .milliseconds(17)) == 0)
    #expect(session.takeDueTicks(at: .zero + .milliseconds(18)) == 1)
    #expect(session.nextTick > .zero + .milliseconds(35))
    #expect((0.01...0.05).contains(session.fraction(at: .zero + .milliseconds(18))))
  }
}
