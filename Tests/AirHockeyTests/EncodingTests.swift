import CaromCore
import CaromPhysics
import CaromSimulation
import Testing

@testable import AirHockey

private func makeState() -> RinkState {
  var state = RinkState(match: 0x0203, tick: Tick(0x0102_0304_0506_0708))
  state.phase = .serve(.away, remaining: 0x0123)
  state.pauses = .away
  state.score = Score(home: 3, away: 5)
  state.puck = PuckState(
    position: LatticePoint(x: -1, y: 2), velocity: LatticePoint(x: 1 << 33, y: -(1 << 33)),
    spin: -256)
  state.homeMallet = LatticePoint(x: -0x8000_0000, y: 0x1000)
  state.awayMallet = LatticePoint(x: 0x8000_0001, y: -0x1000)
  return state
}

private func encode(_ state: RinkState) -> [UInt8] { state.encoded }

private func decode(_ bytes: [UInt8]) throws(DecodeError) -> RinkState {
  try RinkState(decoding: bytes.span)
}

private func hex(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

@Test func `a state has a fixed encoding`() {
  let expected =
    "0807060504030201" + "01012301" + "02" + "0302" + "0305"
    + "ffffffffffffffff" + "0200000000000000" + "0000000002000000" + "00000000feffffff"
    + "00ffffffffffffff" + "00000080ffffffff" + "0010000000000000" + "0100008000000000"
    + "00f0ffffffffffff"
  #expect(hex(encode(makeState())) == expected)
  #expect(encode(makeState()).count == RinkState.encodedLength)
}

@Test func `a mirrored state has a fixed encoding`() {
  let expected =
    "0807060504030201" + "01002301" + "01" + "0302" + "0503"
    + "0100000000000000" + "feffffffffffffff" + "00000000feffffff" + "0000000002000000"
    + "00ffffffffffffff" + "ffffff7fffffffff" + "0010000000000000" + "0000008000000000"
    + "00f0ffffffffffff"
  #expect(hex(encode(makeState().mirrored)) == expected)
  #expect(makeState().mirrored.mirrored == makeState())
}

@Test func `a decoded state equals the encoded one`() throws {
  #expect(try decode(encode(makeState())) == makeState())
}

@Test(arguments: [
  (8, 6, "phase"), (9, 2, "seat"), (12, 4, "pauses"), (15, 7, "score"), (24, 1, "puck"),
  (30, 0x7F, "puck"), (62, 0, "mallet"), (62, 0x80, "mallet"), (11, 0x7F, "remaining ticks"),
])
func `a field outside its range is an error`(offset: Int, byte: UInt8, what: String) {
  var bytes = encode(makeState())
  bytes[offset] = byte
  #expect { try decode(bytes) } throws: { error in
    guard case .invalid(let field)? = error as? DecodeError else { return false }
    return field.description == what
  }
}

@Test(arguments: Seat.allCases)
func `a mallet with the smallest integer as its position is an error`(seat: Seat) {
  var bytes = encode(makeState())
  let x = RinkState.encodedLength - (seat == .home ? 32 : 16)
  bytes.replaceSubrange(x..<x + 8, with: [0, 0, 0, 0, 0, 0, 0, 0x80])
  #expect(throws: DecodeError.invalid(what: "mallet")) { try decode(bytes) }
}

@Test func `a state that is too short or too long is an error`() {
  let bytes = encode(makeState())
  for count in 0..<bytes.count {
    #expect(throws: DecodeError.self) { try decode(Array(bytes.prefix(count))) }
  }
  #expect(throws: DecodeError.trailingBytes(1)) { try decode(bytes + [0]) }
}

@Test func `mutated states never trap, and those that decode can be played`() {
  var generator = SeededGenerator(seed: 3)
  var inputs = RandomInputs(seed: 4)
  var original = encode(makeState())
  // Ends the pause, so that the match moves.
  original[12] = 0
  var accepted = 0
  for _ in 0..<scaled(debug: 5_000, release: 200_000) {
    var bytes = original
    for _ in 0...Int(generator.next() % 3) {
      bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(generator.next() & 0xFF)
    }
    guard let state = try? decode(bytes) else { continue }
    accepted += 1
    var rink = Rink(state)
    for _ in 0..<3 { _ = rink.step(home: inputs.input(), away: inputs.input()) }
    #expect(encode(state).count == RinkState.encodedLength)
  }
  #expect(accepted > 0)
}

@Test func `an input has a fixed encoding, and one outside the table is an error`() throws {
  var writer = PacketWriter()
  MalletInput(x: -9_740, y: 258).encode(into: &writer)
  #expect(writer.bytes == [0xF4, 0xD9, 0x02, 0x01])
  var reader = PacketReader(writer.bytes.span)
  #expect(try MalletInput(decoding: &reader) == MalletInput(x: -9_740, y: 258))
  var outside = PacketReader([UInt8]([0x00, 0x80, 0, 0]).span)
  #expect(throws: DecodeError.invalid(what: "mallet x")) { try MalletInput(decoding: &outside) }
}

@Test func `an input from anywhere is clamped to the table`() {
  #expect(MalletInput(x: .min, y: .max) == MalletInput(x: -9_740, y: 5_190))
  #expect(MalletInput(Vector(.nan, -.infinity)) == MalletInput(x: 0, y: -5_190))
  #expect(MalletInput(Vector(0.12345, -0.12345)) == MalletInput(x: 1_235, y: -1_235))
  for input in [MalletInput(x: 5, y: -7), MalletInput(x: -9_740, y: 5_190)] {
    #expect(input.mirrored.mirrored == input)
  }
}
