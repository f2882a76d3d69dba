import CaromCore
import CaromPhysics
import CaromSimulation
import Testing

@testable import AirHockey

/// The values that peers exchange; WireFormat, Air hockey.
@Suite struct MatchValueTests {
  @Test(
    arguments: [
      (0.00005, 1), (-0.00005, -1), (0.00004, 0), (-0.00004, 0), (0.12345, 1_235), (2, 9_740),
      (-2, -9_740), (0.974, 9_740), (.infinity, 9_740), (-0.97395, -9_740),
    ] as [(Double, Int16)])
  func `a target is the nearest tenth of a millimeter on both sides`(x: Double, tenths: Int16) {
    #expect(MalletInput(Vector(x, 0)) == MalletInput(x: tenths, y: 0))
    let y = MalletInput(Vector(0, x)).y
    #expect(y == max(-5_190, min(tenths, 5_190)))
    let point = Vector(x, -x / 3)
    #expect(MalletInput(-point) == MalletInput(point).mirrored)
  }

  @Test func `a target outside the table is invalid, one on its edge is not`() throws {
    for (x, y, isValid) in [
      (9_740, 5_190, true), (-9_740, -5_190, true), (9_741, 0, false), (-9_741, 0, false),
      (0, 5_191, false), (0, -5_191, false),
    ] as [(Int16, Int16, Bool)] {
      var writer = PacketWriter()
      writer.write(UInt16(bitPattern: x))
      writer.write(UInt16(bitPattern: y))
      var reader = PacketReader(writer.bytes.span)
      let error = DecodeError.invalid(what: x.magnitude > 9_740 ? "mallet x" : "mallet y")
      if isValid {
        #expect(try MalletInput(decoding: &reader) == MalletInput(x: x, y: y))
      } else {
        #expect(throws: error) { try MalletInput(decoding: &reader) }
      }
    }
    #expect(MalletInput.encodedLength == 4)
    #expect(MalletInput(x: 12, y: -34).vector == Vector(0.0012, -0.0034))
  }

  @Test(
    arguments: [
      (0, 0), (2, 0), (3, 1), (7, 1), (8, 2), (-2, 0), (-3, -1), (-8, -2), (9_740, 1_948),
      (-9_740, -1_948),
    ] as [(Int16, Int32)])
  func `an input is the target to the nearest half of a millimeter`(tenths: Int16, half: Int32) {
    let input = RinkInput(MalletInput(x: tenths, y: tenths))
    #expect(input.field(0) == half)
    #expect(input.field(1) == max(-1_038, min(half, 1_038)))
    #expect(input.field(2) == 1)
    let y = Int16(max(-1_038, min(half, 1_038)) * 5)
    #expect(input.mallet == MalletInput(x: Int16(half * 5), y: y))
  }

  @Test func `the third field is the request and whether the player is present`() throws {
    #expect(RinkInput.fieldCount == 3)
    for code in -1...11 as ClosedRange<Int32> {
      let fields: [Int32] = [0, 0, code]
      guard (0...9).contains(code) else {
        #expect(throws: DecodeError.invalid(what: "rink request")) {
          try RinkInput(fields: fields.span)
        }
        continue
      }
      let input = try RinkInput(fields: fields.span)
      #expect(input.field(2) == code)
      #expect(input.request?.rawValue == (code < 2 ? nil : UInt8(code / 2)))
      #expect(input.mallet == (code % 2 == 0 ? nil : MalletInput(x: 0, y: 0)))
    }
    #expect(RinkInput() == RinkInput(nil) && RinkInput().field(2) == 0)
  }

  @Test func `a target lies on the table, and an absent player has none`() throws {
    let outside = DecodeError.invalid(what: "mallet target")
    let absent = DecodeError.invalid(what: "target of an absent player")
    for (x, y, present, error) in [
      (1_948, 1_038, 1, nil), (-1_948, -1_038, 1, nil), (1_949, 0, 1, outside),
      (-1_949, 0, 1, outside), (0, 1_039, 1, outside), (0, -1_039, 1, outside),
      (.min, 0, 1, outside), (0, 0, 0, nil), (1, 0, 0, absent), (0, -1, 8, absent),
    ] as [(Int32, Int32, Int32, DecodeError?)] {
      let fields = [x, y, present]
      if let error {
        #expect(throws: error) { try RinkInput(fields: fields.span) }
      } else {
        let input = try RinkInput(fields: fields.span)
        #expect((0..<3).map(input.field) == fields)
      }
    }
  }

  @Test func `of two inputs the later target counts, and the later request if there is one`() {
    let (a, b) = (MalletInput(x: 50, y: 0), MalletInput(x: -100, y: 20))
    let first = RinkInput(a, request: .pause)
    #expect(first.merged(with: RinkInput(b)) == RinkInput(b, request: .pause))
    #expect(first.merged(with: RinkInput(b, request: .resume)) == RinkInput(b, request: .resume))
    #expect(RinkInput(a).merged(with: RinkInput(b, request: .pause)).request == .pause)
    #expect(RinkInput(a).merged(with: RinkInput()) == RinkInput())
    #expect(first.merged(with: RinkInput()) == RinkInput(nil, request: .pause))
    #expect(first.held == RinkInput(a) && RinkInput(a).held == RinkInput(a))
  }

  @Test(
    arguments: [
      (7, 6, true), (0, 7, true), (6, 6, true), (7, 7, false), (8, 0, false), (0, 8, false),
      (255, 6, false),
    ] as [(UInt8, UInt8, Bool)])
  func `a notice has at most seven goals on a side, and not on both`(
    home: UInt8, away: UInt8, isValid: Bool
  ) throws {
    let bytes: [UInt8] = [1, 0x34, 0x12, home, away]
    if isValid {
      let notice = MatchNotice.ended(match: 0x1234, Score(home: home, away: away))
      #expect(try MatchNotice(decoding: bytes.span) == notice)
      #expect(notice.encoded == bytes)
    } else {
      #expect(throws: DecodeError.invalid(what: "score")) { try MatchNotice(decoding: bytes.span) }
    }
    #expect(MatchNotice.finish.encoded == [0])
    #expect(try MatchNotice(decoding: [UInt8](repeating: 0, count: 1).span) == .finish)
    #expect(throws: DecodeError.invalid(what: "word")) {
      try MatchNotice(decoding: [UInt8](repeating: 3, count: 1).span)
    }
  }

  @Test(arguments: ["", "Leo", "日本", String(repeating: "x", count: 63)])
  func `a notice says who plays`(name: String) throws {
    let text = Array(name.utf8)
    let notice = MatchNotice.playing(home: name, away: "Zoe")
    #expect(notice.encoded == [2, UInt8(text.count)] + text + Array("Zoe".utf8))
    for notice in [notice, .playing(home: "Zoe", away: name)] {
      #expect(try MatchNotice(decoding: notice.encoded.span) == notice)
    }
  }

  @Test(
    arguments: [
      [64] + [UInt8](repeating: 0x78, count: 64), [0] + [UInt8](repeating: 0x78, count: 64),
      [1, 0xFF], [0, 0xFF], [2, 0x41, 0xC3], [2, 0xC3, 0xA4, 0xC3],
    ] as [[UInt8]])
  func `a notice whose name is too long or not UTF-8 is malformed`(names: [UInt8]) {
    #expect(throws: DecodeError.invalid(what: "name")) {
      try MatchNotice(decoding: ([2] + names).span)
    }
  }

  @Test(arguments: [[], [1], [4, 0x41]] as [[UInt8]])
  func `a notice without a whole name is malformed`(names: [UInt8]) {
    #expect(throws: DecodeError.self) { try MatchNotice(decoding: ([2] + names).span) }
  }

  @Test func `a name that is too long is omitted from a notice`() {
    let long = String(repeating: "x", count: 64)
    #expect(MatchNotice.playing(home: long, away: long).encoded == [2, 0])
  }

  @Test(
    arguments: [
      (.faceOff(remaining: 180), .faceOff(remaining: 181)),
      (.serve(.home, remaining: 600), .serve(.home, remaining: 601)),
      (.playing(half: nil, remaining: 420), .playing(half: nil, remaining: 421)),
      (.goalPause(scorer: .away, remaining: 90), .goalPause(scorer: .away, remaining: 91)),
      (.foulPause(by: .away, remaining: 60), .foulPause(by: .away, remaining: 61)),
      (.playing(half: .home, remaining: 1), .playing(half: .home, remaining: 0)),
      (.faceOff(remaining: 1), .faceOff(remaining: 0)),
    ] as [(Phase, Phase)])
  func `the remaining ticks of a phase are at least 1 and at most those that it begins with`(
    valid: Phase, invalid: Phase
  ) throws {
    var state = RinkState()
    state.phase = valid
    #expect(try RinkState(decoding: state.encoded.span) == state)
    state.phase = invalid
    #expect(throws: DecodeError.invalid(what: "remaining ticks")) {
      try RinkState(decoding: state.encoded.span)
    }
  }

  @Test func `a phase has a seat if and only if it needs one`() throws {
    for code in 0...6 as ClosedRange<UInt8> {
      for seat in [0, 1, 2, 254, 255] as [UInt8] {
        var bytes = RinkState().encoded
        (bytes[8], bytes[9], bytes[10], bytes[11]) = (code, seat, code == 5 ? 0 : 1, 0)
        if code == 5 { bytes[15 + Int(seat & 1)] = 7 }
        let hasSeat = seat < 2
        let isValid = seat == 255 || hasSeat ? (code == 2 || (code == 0) != hasSeat) : false
        let state = try? RinkState(decoding: bytes.span)
        #expect((state != nil) == (isValid && code < 6))
        guard let state else { continue }
        #expect(state.encoded == bytes && state.mirrored.mirrored == state)
      }
    }
    var over = RinkState()
    over.phase = .matchEnd(winner: .away)
    for (score, isValid) in [
      (Score(home: 6, away: 7), true), (Score(home: 7, away: 7), false),
      (Score(home: 7, away: 6), false), (Score(home: 0, away: 6), false),
      (Score(home: 0, away: 8), false),
    ] {
      over.score = score
      #expect(((try? RinkState(decoding: over.encoded.span)) != nil) == isValid)
    }
    var on = RinkState()
    for (score, isValid) in [
      (Score(home: 6, away: 6), true), (Score(home: 7, away: 0), false),
      (Score(home: 0, away: 7), false),
    ] {
      on.score = score
      #expect(((try? RinkState(decoding: on.encoded.span)) != nil) == isValid)
    }
  }

  @Test func `positions, velocities and spins are valid up to their bounds`() throws {
    let edges: [(WritableKeyPath<RinkState, Int64>, Double, Double)] = [
      (\.puck.position.x, -0.974, 0.974), (\.puck.position.y, -0.48735, 0.48735),
      (\.puck.velocity.x, -15, 15), (\.puck.velocity.y, -15, 15), (\.puck.spin, -1_024, 1_024),
      (\.homeMallet.x, -0.92585, -0.04815), (\.awayMallet.x, 0.04815, 0.92585),
      (\.homeMallet.y, -0.47085, 0.47085), (\.awayMallet.y, -0.47085, 0.47085),
    ]
    for (path, low, high) in edges {
      for (value, isValid) in [
        (Lattice.units(low), true), (Lattice.units(low) - 1, false), (Lattice.units(high), true),
        (Lattice.units(high) + 1, false),
      ] {
        var state = RinkState()
        state[keyPath: path] = value
        #expect(((try? RinkState(decoding: state.encoded.span)) == state) == isValid)
      }
    }
  }

  @Test func `every field of a state changes its hash and its description`() {
    let state = RinkState(match: 3, tick: Tick(9))
    var states = [state]
    func add(_ change: (inout RinkState) -> Void) {
      var other = state
      change(&other)
      states.append(other)
    }
    add { $0.tick = Tick(10) }
    add { $0.phase = .faceOff(remaining: 1) }
    add { $0.phase = .playing(half: nil, remaining: 1) }
    add { $0.phase = .playing(half: .home, remaining: 1) }
    add { $0.pauses = .home }
    add { $0.pauses = .away }
    add { $0.match = 4 }
    add { $0.score.home = 1 }
    add { $0.score.away = 1 }
    add { $0.puck.position.x = 1 }
    add { $0.puck.position.y = 1 }
    add { $0.puck.velocity.x = 1 }
    add { $0.puck.velocity.y = 1 }
    add { $0.puck.spin = 1 }
    add { $0.homeMallet.x += 1 }
    add { $0.homeMallet.y += 1 }
    add { $0.awayMallet.x += 1 }
    add { $0.awayMallet.y += 1 }
    #expect(Set(states.map(\.hash)).count == states.count)
    let descriptions = states.map { state in
      var description = SimulationDescription()
      Rink(state).describe(into: &description)
      return description
    }
    #expect(Set(descriptions).count == states.count)
    #expect(descriptions[0].entities.map(\.name) == ["match", "puck", "mallet", "mallet"])
    #expect(descriptions[0].entities.map(\.number) == [0, 0, 0, 1])
    // WireFormat: the words of the hash, in their order.
    var hash = StateHash()
    let words: [Int64] = [
      9, 255 << 8 | Int64(RinkState.faceOffTicks(of: 3)) << 16, 3 << 16, 0, 0, 0, 0, 0, 0,
      state.homeMallet.x, 0, state.awayMallet.x, 0,
    ]
    for word in words { hash.combine(word) }
    #expect(state.hash == hash.value && Rink(state).hash == hash.value)
  }
}
