import CaromCore
import CaromCrypto
import Testing

@testable import CaromPlacement

@Suite struct FleetValueTests {
  @Test func `a match's name is 1 to 64 visible ASCII characters`() {
    #expect(MatchID("!~")?.text == "!~")
    #expect(MatchID(String(repeating: "x", count: 64)) != nil)
    for text in ["", String(repeating: "x", count: 65), "a b", "é", "a\u{7F}", "a\n"] {
      #expect(MatchID(text) == nil)
    }
    #expect(MatchID("a")! < MatchID("b")!)
  }

  @Test func `a claim has the bytes that the page WireFormat describes`() throws {
    let claim = MatchClaim(MatchID("m1")!, host: PeerID(high: 1, low: 2), number: 300)
    let bytes: [UInt8] =
      [2, 0x6D, 0x31] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 2] + [0xAC, 0x02]
    #expect(claim.encoded == bytes)
    #expect(try MatchClaim(decoding: bytes.span) == claim)
    for length in bytes.indices {
      let part = Array(bytes.prefix(length))
      #expect(throws: DecodeError.self) { try MatchClaim(decoding: part.span) }
    }
    let space = [1, 0x20] + bytes.dropFirst(3)
    #expect(throws: DecodeError.self) { try MatchClaim(decoding: space.span) }
  }

  @Test func `a claim's number is at most 2^53`() throws {
    let id = MatchID("m")!
    let largest = MatchClaim(id, host: .player(1), number: MatchClaim.maximumNumber)
    #expect(try MatchClaim(decoding: largest.encoded.span) == largest)
    let larger = MatchClaim(id, host: .player(1), number: MatchClaim.maximumNumber + 1)
    #expect(throws: DecodeError.self) { try MatchClaim(decoding: larger.encoded.span) }
  }

  @Test func `claims' numbers grow with the time and with each claim`() {
    let now = Instant.zero + .seconds(5)
    #expect(MatchClaim.number(after: 0, at: now) == 5_000)
    #expect(MatchClaim.number(after: 5_000, at: now) == 5_001)
    #expect(MatchClaim.number(after: 9_000, at: now) == 9_001)
    #expect(
      MatchClaim.number(after: MatchClaim.maximumNumber, at: now) == MatchClaim.maximumNumber)
  }

  @Test func `a checkpoint has at most 8,192 bytes and a tick of at most 2^53`() {
    let state = [UInt8](repeating: 1, count: Checkpoint.maximumLength)
    #expect(Checkpoint(tick: MatchClaim.maximumNumber, state: state) != nil)
    #expect(Checkpoint(tick: 0, state: state + [1]) == nil)
    #expect(Checkpoint(tick: MatchClaim.maximumNumber + 1, state: []) == nil)
  }

  @Test func `a load stays between 0 and 1,000`() {
    #expect(HostLoad(lateTicks: -1, processor: 2_000) == HostLoad(lateTicks: 0, processor: 1_000))
  }

  @Test func `a player's token names the host and has the claim as its data`() throws {
    var generator = SeededGenerator(seed: 1)
    let record = HostRecord.make(1)
    let claim = MatchClaim(.match(1), host: record.id, number: 7)
    let key = BackendKey(using: &generator)
    let token = try Placement(claim, at: record).token(
      for: .player(3), key: key, at: UnixTime(milliseconds: 1_000), using: &generator)
    #expect(token.hosts == record.endpoints)
    let opened = try #require(token.open(with: key))
    #expect(opened.player == .player(3))
    #expect(try MatchClaim(decoding: opened.data.span) == claim)
    #expect(token.expiry == UnixTime(milliseconds: 11_000))
  }

  @Test func `every refusal says what to do`() {
    let refusals: [PlacementRefusal] = [
      .noRoom, .noSuchVersion, .otherVersion, .matchIsOver, .unknownMatch, .tooManyPlayers,
      .otherKey,
    ]
    #expect(Set(refusals.map(\.description)).count == 7)
    #expect(refusals.allSatisfy { $0.description.contains(":") || $0 == .tooManyPlayers })
  }
}
