import AirHockey
import CaromCore
import CaromSimulation
import Testing

/// The game's messages as they stand on the wire, byte by byte.
@Suite struct GameVectorTests {
  let vectors: [String: [UInt8]]

  init() throws { vectors = try WireVectors.load("game.txt") }

  /// Every vector that begins so is a `Message`, and stands for the value of its name.
  private func check<Message: PacketCodable & Hashable>(
    _ start: String, _ messages: [String: Message]
  ) throws {
    let found = vectors.filter { $0.key.hasPrefix(start) }
    #expect(found.keys.sorted() == messages.keys.sorted())
    for (name, bytes) in found {
      #expect(try Message(decoding: bytes.span) == messages[name], "\(name)")
      #expect(messages[name]?.encoded == bytes, "\(name)")
    }
  }

  @Test func `every vector is a state, a word or of a first tick`() {
    let starts = ["state ", "word ", "first "]
    for name in vectors.keys { #expect(starts.contains { name.hasPrefix($0) }, "\(name)") }
  }

  @Test func `states are written as their vectors and read from them`() throws {
    try check("state ", GameStates.all)
    for (name, bytes) in vectors where name.hasPrefix("state ") { #expect(bytes.count == 89) }
  }

  @Test func `words are written as their vectors and read from them`() throws {
    try check(
      "word ",
      [
        "word of a guest whose time is up": TableWord.finish,
        "word of a host that ends the session": .ended(
          match: 0x0203, Score(home: 3, away: 5)),
      ])
    for score in [[8, 0], [0, 8], [7, 7]] as [[UInt8]] {
      #expect(throws: DecodeError.invalid(what: "score")) {
        try TableWord(decoding: ([1, 1, 0] + score).span)
      }
    }
    #expect(throws: DecodeError.invalid(what: "word")) { try TableWord(decoding: [2].span) }
  }

  @Test func `the first messages of a match are those of the vectors`() throws {
    var host = HostedMatch(at: .zero)
    let watcher = host.seatGuest(same: false, at: .zero)
    let polled = host.pollMessage()
    let keyframe = try #require(polled)
    _ = host.step(home: MalletInput(x: -7_000, y: 255))
    let told = host.pollMessage()
    let inputs = try #require(told)
    var guest = JoinedMatch(at: .zero)
    try guest.receive(keyframe.kind, keyframe.bytes.span, at: .zero)
    guest.step(MalletInput(x: 6_000, y: -5), at: .zero)
    let answer = guest.pollMessage()
    let own = try #require(answer)
    #expect(vectors["first keyframe"] == RollbackPacket(.keyframe, keyframe.bytes).encoded)
    #expect(vectors["first inputs of a host"] == inputs.bytes)
    #expect(vectors["first inputs of a guest"] == own.bytes)
    try host.receive(.inputs, own.bytes.span, from: watcher, at: .zero)
    try guest.receive(.inputs, inputs.bytes.span, at: .zero)
    guest.step(nil, at: .zero)
    #expect(guest.confirmed == host.state)
  }
}
