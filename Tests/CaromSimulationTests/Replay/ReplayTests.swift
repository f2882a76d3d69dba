import AirHockey
import CaromCore
import CaromTesting
import Testing

@testable import CaromSimulation

@Suite struct ReplayTests {
  @Test func `both ends of a match and its replay have the same hash at every tick`() throws {
    let seconds = matchSeconds(debug: 8)
    var match = PeerMatch(Rink(), window: 30, seed: 21, conditions: hardLine)
    var players = [
      ComputerPlayer(.home, strength: .hard, seed: 1), ComputerPlayer(.away, seed: 2),
    ]
    var writer = ReplayWriter(Rink(), players: 2, title: "air hockey")
    var file: [UInt8] = []
    for second in 1...seconds {
      match.play(until: .zero + .seconds(second)) { player, session in
        players[player].play(session.state.state)
      }
      writer.record(match.sessions[0].rollback)
      file += writer.takeBytes()
    }
    let last = writer.tick
    let state = try #require(match.sessions[0].rollback.state(at: last))
    writer.finish(state)
    file += writer.takeBytes()
    #expect(match.agree)
    #expect(last.rawValue > UInt64(60 * (seconds - 1)))

    var reader = try ReplayReader<Rink>(file)
    #expect(reader.isComplete)
    #expect(reader.end == last)
    #expect(reader.header.title == "air hockey")
    var hashes = [reader.game.hash]
    while try reader.step() { hashes.append(reader.game.hash) }
    #expect(reader.comparedHashes >= seconds - 2)
    for player in 0...1 {
      let common = min(hashes.count, match.hashes[player].count)
      #expect(hashes.prefix(common) == match.hashes[player].prefix(common))
    }
  }

  @Test func `seeking to any tick gives the state of that tick`() throws {
    let (file, hashes) = try makeReplay(ticks: 2_000)
    var reader = try ReplayReader<Swarm>(file)
    var generator = SeededGenerator(seed: 4)
    for _ in 0..<scaled(debug: 10, release: 60) {
      let tick = Tick(UInt64.random(in: 100...2_100, using: &generator))
      try reader.seek(to: tick)
      #expect(reader.tick == tick)
      #expect(reader.game.hash == hashes[Int(tick.rawValue) - 100])
    }
    try reader.seek(to: .zero)
    #expect(reader.tick == Tick(100))
    try reader.seek(to: Tick(.max))
    #expect(reader.tick == Tick(2_100))
    #expect(try reader.step() == false)
  }

  @Test func `a truncated file is read to its last whole block`() throws {
    let (file, _) = try makeReplay(ticks: 700)
    let end = 1 + 1 + 2 + 8
    let reader = try ReplayReader<Swarm>(Array(file.dropLast(end)))
    #expect(!reader.isComplete)
    #expect(reader.end == Tick(800))
    for cut in [3, end + 1, end + 3, 200] {
      var torn = try ReplayReader<Swarm>(Array(file.dropLast(cut)))
      #expect(!torn.isComplete && torn.end > Tick(0))
      while try torn.step() {}
      #expect(torn.tick == torn.end)
    }
    #expect(throws: DecodeError.self) { try ReplayReader<Swarm>(Array(file.prefix(20))) }
    #expect(throws: DecodeError.self) { try ReplayReader<Swarm>(file + [0]) }
    #expect(throws: DecodeError.self) { try ReplayReader<Rink>(file) }
  }

  @Test func `a file with an unsupported player count is rejected`() {
    var writer = ReplayWriter(Rink(), players: 2, title: "match")
    var file = writer.takeBytes()
    file[5] = 3
    #expect(throws: DecodeError.invalid(what: "players")) { try ReplayReader<Rink>(file) }
  }

  @Test func `a changed input is detected by the next hash`() throws {
    let (file, _) = try makeReplay(ticks: 300)
    var found = 0
    for offset in stride(from: 300, to: file.count - 11, by: 7) {
      var changed = file
      changed[offset] ^= 0x10
      do {
        var reader = try ReplayReader<Swarm>(changed)
        while try reader.step() {}
      } catch {
        found += 1
      }
    }
    #expect(found == (file.count - 311 + 6) / 7)
  }

  @Test func `corrupt files never trap`() throws {
    let (file, _) = try makeReplay(ticks: 400)
    try Seeds(scaled(debug: 150, release: 3_000)).check { seed in
      var generator = SeededGenerator(seed: seed)
      var bytes = file
      for _ in 0...Int.random(in: 0...4, using: &generator) {
        let place = Int.random(in: bytes.indices, using: &generator)
        bytes[place] = UInt8(truncatingIfNeeded: generator.next())
      }
      if generator.chance(0.3) { bytes.removeLast(Int.random(in: 1...50, using: &generator)) }
      guard var reader = try? ReplayReader<Swarm>(bytes) else { return }
      while (try? reader.step()) == true {}
      try? reader.seek(to: Tick(350))
      try? reader.seek(to: Tick(120))
    }
  }

  @Test func `a recorded match takes 1,500 bits per second`() throws {
    let ticks = scaled(debug: 1_800, release: 36_000)
    var rink = Rink()
    var players = (
      ComputerPlayer(.home, strength: .hard, seed: 3),
      ComputerPlayer(.away, strength: .hard, seed: 4)
    )
    var writer = ReplayWriter(rink, players: 2, title: "air hockey")
    var events: [RinkEvent] = []
    for _ in 0..<ticks {
      var request: RinkInput.Request?
      if case .matchEnd = rink.state.phase { request = .startMatch }
      let inputs = [
        RinkInput(players.0.input(for: rink.state), request: request),
        RinkInput(players.1.input(for: rink.state)),
      ]
      rink.step(inputs.span, events: &events)
      writer.append({ inputs[$0] }, leadingTo: rink)
    }
    writer.finish(rink)
    let bits = 8 * (writer.byteCount - writer.keyframeBytes)
    #expect(bits * 60 / ticks <= 1_500)
  }

  private func makeReplay(ticks: Int) throws -> (file: [UInt8], hashes: [UInt64]) {
    var swarm = Swarm(count: 10, seed: 9)
    var hands = [SwarmHand(seed: 1), SwarmHand(seed: 2)]
    var writer = ReplayWriter(swarm, players: 2, title: "swarm", at: Tick(100))
    var events: [Swarm.Event] = []
    var hashes = [swarm.hash]
    for _ in 0..<ticks {
      let inputs = hands.indices.map { hands[$0].input() }
      swarm.step(inputs.span, events: &events)
      writer.append({ inputs[$0] }, leadingTo: swarm)
      hashes.append(swarm.hash)
    }
    writer.finish(swarm)
    return (writer.takeBytes(), hashes)
  }
}
