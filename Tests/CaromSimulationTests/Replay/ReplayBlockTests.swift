import CaromCore
import Testing

@testable import CaromSimulation

/// The blocks of a replay; WireFormat, Rollback play.
@Suite struct ReplayBlockTests {
  /// A recording of `ticks` ticks that begins at tick 10, with the hash of its first state and of
  /// the state after each tick, and the events of each tick.
  private func record(
    _ ticks: Int, keyframes: Int = 60, hashes: Int = 25
  ) -> (file: [UInt8], hashes: [UInt64], events: [[Swarm.Event]]) {
    var swarm = Swarm(count: 3, seed: 9)
    var hands = [SwarmHand(seed: 1), SwarmHand(seed: 2)]
    var writer = ReplayWriter(
      swarm, players: 2, title: "t", at: Tick(10), keyframeInterval: keyframes,
      hashInterval: hashes)
    var file = writer.takeBytes()
    var found = (hashes: [swarm.hash], events: [[Swarm.Event]]())
    for _ in 0..<ticks {
      let inputs = hands.indices.map { hands[$0].input() }
      var events: [Swarm.Event] = []
      swarm.step(inputs.span, events: &events)
      writer.append({ inputs[$0] }, leadingTo: swarm)
      found.hashes.append(swarm.hash)
      found.events.append(events)
      file += writer.takeBytes()
    }
    writer.finish(swarm)
    file += writer.takeBytes()
    #expect(writer.takeBytes() == [] && writer.byteCount == file.count)
    #expect(writer.tick == Tick(10 + UInt64(ticks)))
    return (file, found.hashes, found.events)
  }

  /// The kind and the body of each block after the header.
  private func blocks(of file: [UInt8]) throws -> [(kind: UInt8, body: [UInt8])] {
    var reader = PacketReader(file.span)
    _ = try ReplayHeader(decoding: &reader)
    var blocks: [(UInt8, [UInt8])] = []
    while reader.remaining > 0 {
      let kind: UInt8 = try reader.read()
      let length = Int(try reader.readVarInt())
      let body = try reader.readSpan(length)
      blocks.append((kind, (0..<length).map { body[$0] }))
    }
    return blocks
  }

  /// The header of `file`, which has 19 bytes, followed by the given blocks.
  private func join(_ file: [UInt8], _ blocks: [(kind: UInt8, body: [UInt8])]) -> [UInt8] {
    var writer = PacketWriter()
    writer.write(Array(file.prefix(19)))
    for block in blocks {
      writer.append(block.kind)
      writer.writeVarInt(UInt64(block.body.count))
      writer.write(block.body)
    }
    return writer.bytes
  }

  /// The error that is thrown when a file is opened and played to its end.
  private func problem(_ file: [UInt8]) -> DecodeError? {
    do throws(DecodeError) {
      var reader = try ReplayReader<Swarm>(file)
      while try reader.step() {}
      return nil
    } catch {
      return error
    }
  }

  @Test func `a hash follows after the given ticks and before each keyframe`() throws {
    let (file, hashes, _) = record(130)
    let blocks = try blocks(of: file)
    #expect(blocks.map(\.kind) == [1, 2, 2, 2, 1, 2, 2, 2, 1, 2, 3])
    let lengths = blocks.filter { $0.kind == 2 }.map { Int($0.body[0]) }
    #expect(lengths == [25, 25, 10, 25, 25, 10, 10])
    var tick = 0
    for block in blocks {
      let hash = (0..<8).map { UInt8(truncatingIfNeeded: hashes[tick] >> UInt64(8 * $0)) }
      switch block.kind {
      case 1: #expect(Array(block.body.prefix(8)) == hash)
      case 2:
        tick += Int(block.body[0])
        let next = (0..<4).map { UInt8(truncatingIfNeeded: hashes[tick] >> UInt64(8 * $0)) }
        #expect(Array(block.body.suffix(4)) == next)
      default: #expect(block.body == [0x82, 0x01].prefix(block.body.count - 8) + hash)
      }
    }
    #expect(tick == 130 && problem(file) == nil)
    #expect(join(file, blocks) == file)
  }

  @Test func `keyframes are counted, and restart the coding of inputs`() throws {
    var swarm = Swarm(count: 1, seed: 1)
    var writer = ReplayWriter(
      swarm, players: 1, title: "t", keyframeInterval: 2, hashInterval: 1)
    let keyframe = 8 + swarm.encoded.count
    #expect(writer.keyframeBytes == keyframe)
    var events: [Swarm.Event] = []
    for _ in 0..<4 {
      let inputs = [Swarm.Input(push: 100)]
      swarm.step(inputs.span, events: &events)
      writer.append({ inputs[$0] }, leadingTo: swarm)
    }
    #expect(writer.keyframeBytes == 3 * keyframe)
    let inputs = try blocks(of: writer.takeBytes()).filter { $0.kind == 2 }.map(\.body)
    // The first block after a keyframe codes the change from 0 to 100, the second no change.
    #expect(inputs[0][..<4] == inputs[2][..<4] && inputs[0].count > inputs[1].count)
    #expect(inputs[1][..<2] == [1, 0] && inputs[3][..<2] == [1, 0])
  }

  @Test func `without an end block a file is incomplete, and is played to its last inputs`() throws
  {
    let (file, hashes, _) = record(130)
    var blocks = try blocks(of: file)
    blocks.removeLast()
    var reader = try ReplayReader<Swarm>(join(file, blocks))
    #expect(!reader.isComplete && reader.end == Tick(140))
    while try reader.step() {}
    #expect(reader.game.hash == hashes[130] && reader.comparedHashes == 7)
    blocks.removeLast()
    // A keyframe may be the last block.
    reader = try ReplayReader<Swarm>(join(file, blocks))
    #expect(reader.end == Tick(130))
    try reader.seek(to: Tick(130))
    #expect(reader.game.hash == hashes[120])
    reader = try ReplayReader<Swarm>(join(file, [blocks[0]]))
    #expect(reader.end == Tick(10) && reader.tick == Tick(10))
    #expect(try reader.step() == false)
  }

  @Test func `a file whose blocks are in a wrong order is rejected when it is opened`() throws {
    let (file, _, _) = record(130)
    let blocks = try blocks(of: file)
    var (many, none) = (blocks[1], blocks[1])
    (many.body[0], none.body[0]) = (121, 0)
    var shorter = blocks[10]
    shorter.body[0] -= 1
    let wrong: [([(kind: UInt8, body: [UInt8])], DecodeError)] = [
      (Array(blocks.dropFirst()), .invalid(what: "first keyframe")),
      ([], .invalid(what: "first keyframe")),
      ([blocks[0], blocks[0]], .invalid(what: "keyframe")),
      ([blocks[0], many], .invalid(what: "ticks in a block")),
      ([blocks[0], none], .invalid(what: "ticks in a block")),
      ([blocks[0], (2, [])], .invalid(what: "ticks in a block")),
      ([blocks[0], (4, [1])], .invalid(what: "replay block")),
      ([blocks[0], (0, [1])], .invalid(what: "replay block")),
      (blocks.dropLast() + [shorter], .invalid(what: "count of ticks")),
      (blocks.dropLast() + [(3, blocks[10].body + [0])], .invalid(what: "end's length")),
      (blocks + [(3, [])], .trailingBytes(2)),
    ]
    for (list, error) in wrong {
      #expect(throws: error) { try ReplayReader<Swarm>(join(file, list)) }
    }
    #expect(throws: DecodeError.tooLarge(length: 1 << 24 + 1, limit: 1 << 24)) {
      try ReplayReader<Swarm>(join(file, []) + [1, 0x81, 0x80, 0x80, 0x08])
    }
  }

  @Test func `every hash in a file is compared when its tick is played`() throws {
    let (file, _, _) = record(130)
    let blocks = try blocks(of: file)
    for (index, error) in [
      (0, .invalid(what: "keyframe's hash")), (2, .invalid(what: "hash")),
      (4, .invalid(what: "keyframe's hash")), (9, .invalid(what: "hash")),
      (10, .invalid(what: "last hash")),
    ] as [(Int, DecodeError)] {
      for bit in [UInt8(1), 0x80] {
        var changed = blocks
        let place = blocks[index].kind == 1 ? 7 : blocks[index].body.count - 1
        changed[index].body[place] ^= bit
        #expect(problem(join(file, changed)) == error)
      }
    }
    // A valid keyframe of another game than the one that was played up to it.
    var other = blocks
    let game = Swarm(count: 3, seed: 8)
    var writer = PacketWriter()
    writer.write(game.hash)
    game.encode(into: &writer)
    other[4].body = writer.bytes
    #expect(problem(join(file, other)) == .invalid(what: "keyframe's hash"))
    var longer = blocks
    longer[4].body += [0]
    #expect(problem(join(file, longer)) == .trailingBytes(1))
    longer = blocks
    longer[2].body += [0]
    #expect(problem(join(file, longer)) != nil)
  }

  @Test func `playing from any tick gives the same inputs and events, forwards and backwards`()
    throws
  {
    let (file, hashes, events) = record(130)
    var reader = try ReplayReader<Swarm>(file)
    var inputs: [[Swarm.Input]] = []
    while try reader.step() {
      inputs.append(reader.lastInputs)
      #expect(reader.events == events[inputs.count - 1])
    }
    #expect(reader.comparedHashes == 7)
    var hands = [SwarmHand(seed: 1), SwarmHand(seed: 2)]
    #expect(inputs == (0..<130).map { _ in hands.indices.map { hands[$0].input() } })
    for tick in [30, 20, 21, 69, 70, 71, 12, 139, 136, 131, 130, 5, 10, 40, 100, 99] {
      try reader.seek(to: Tick(UInt64(tick)))
      let place = max(tick, 10) - 10
      #expect(reader.tick == Tick(UInt64(place + 10)) && reader.game.hash == hashes[place])
      #expect(try reader.step() == true)
      #expect(reader.lastInputs == inputs[place] && reader.events == events[place])
      #expect(reader.game.hash == hashes[place + 1])
    }
    // Seeking forward continues from the current tick, or from a keyframe if that is nearer.
    try reader.seek(to: Tick(10))
    let before = reader.comparedHashes
    try reader.seek(to: Tick(135))
    #expect(reader.comparedHashes == before)
    try reader.seek(to: Tick(136))
    try reader.seek(to: Tick(200))
    #expect(reader.tick == Tick(140) && reader.comparedHashes == before + 1)
    try reader.seek(to: Tick(75))
    #expect(reader.events == events[64])
    try reader.seek(to: Tick(70))
    #expect(reader.events == [])
  }

  @Test(
    arguments: [
      (3, 0, "replay"), (0, 0x44, "replay"), (4, 0, "replay version"), (4, 2, "replay version"),
      (5, 0, "players"), (5, 65, "players"), (6, 0, "input fields"), (6, 17, "input fields"),
      (6, 3, "input fields"),
    ] as [(Int, UInt8, String)])
  func `a header with a field outside its range is rejected`(
    offset: Int, byte: UInt8, what: String
  ) throws {
    var file = record(3).file
    file[offset] = byte
    #expect { try ReplayReader<Swarm>(file) } throws: { error in
      guard case .invalid(let field)? = error as? DecodeError else { return false }
      return field.description == what
    }
  }

  @Test func `a header has 1 to 1,000 ticks per second and a title of up to 255 bytes`() throws {
    let title = String(repeating: "é", count: 127) + "x"
    for rate in [1, 1_000] {
      let header = ReplayHeader(
        players: 64, fields: 16, rate: rate, start: Tick(1 << 62 - 1), title: title)
      #expect(try ReplayHeader(decoding: header.encoded.span) == header)
    }
    var bytes = ReplayHeader(
      players: 1, fields: 1, rate: 1, start: .zero, title: ""
    ).encoded
    for rate in [0, 1_001] {
      (bytes[7], bytes[8]) = (UInt8(rate & 255), UInt8(rate >> 8))
      #expect(throws: DecodeError.invalid(what: "tick rate")) {
        try ReplayHeader(decoding: bytes.span)
      }
    }
  }

  @Test func `every confirmed tick of a match is recorded once`() throws {
    var rollback = Rollback(Swarm(count: 2, seed: 1), players: 2, window: 20, at: Tick(10))
    var writer = ReplayWriter(rollback.state, players: 2, title: "t", at: Tick(10))
    for index in 0..<50 {
      for player in 0...1 where player == 0 || index % 2 == 1 {
        rollback.addInput(Swarm.Input(push: Int32(index)), for: player)
        if player == 1 { rollback.addInput(Swarm.Input(push: -3), for: 1) }
      }
      rollback.advance()
      writer.record(rollback)
      writer.record(rollback)
      #expect(writer.tick == rollback.confirmedTick)
    }
    let last = try #require(rollback.state(at: writer.tick))
    writer.finish(last)
    var reader = try ReplayReader<Swarm>(writer.takeBytes())
    while try reader.step() {}
    #expect(reader.end == rollback.confirmedTick && reader.game.hash == last.hash)
  }
}
