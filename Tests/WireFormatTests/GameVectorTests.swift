import AirHockey
import CaromCore
import CaromSimulation
import Testing

/// Compares the game's messages with the vectors in `game.txt`.
@Suite struct GameVectorTests {
  let vectors: [String: [UInt8]]

  init() throws { vectors = try WireVectors.load("game.txt") }

  /// Checks that the vectors whose names start with `start` decode to `messages` of the same names
  /// and are what these encode to.
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

  @Test func `every vector is a state, a word or a first message`() {
    let starts = ["state ", "word ", "first "]
    for name in vectors.keys { #expect(starts.contains { name.hasPrefix($0) }, "\(name)") }
  }

  @Test func `states encode to their vectors and decode from them`() throws {
    try check("state ", GameStates.all)
    for (name, bytes) in vectors where name.hasPrefix("state ") { #expect(bytes.count == 89) }
  }

  @Test func `words encode to their vectors and decode from them`() throws {
    try check(
      "word ",
      [
        "word of a client whose time is up": MatchNotice.finish,
        "word of a host that ends the session": .ended(
          match: 0x0203, Score(home: 3, away: 5)),
      ])
    for score in [[8, 0], [0, 8], [7, 7]] as [[UInt8]] {
      #expect(throws: DecodeError.invalid(what: "score")) {
        try MatchNotice(decoding: ([1, 1, 0] + score).span)
      }
    }
    #expect(throws: DecodeError.invalid(what: "word")) { try MatchNotice(decoding: [3].span) }
  }

  @Test func `the first messages of a match equal their vectors`() throws {
    var host = HostedMatch(at: .zero)
    let seat = host.addClient(returning: false, at: .zero)
    let polled = host.pollMessage()
    let keyframe = try #require(polled)
    _ = host.step(home: MalletInput(x: -7_000, y: 255))
    let message = host.pollMessage()
    let inputs = try #require(message)
    var client = JoinedMatch(at: .zero)
    try client.receive(keyframe.kind, keyframe.bytes.span, at: .zero)
    client.step(MalletInput(x: 6_000, y: -5), at: .zero)
    let answer = client.pollMessage()
    let clientInputs = try #require(answer)
    #expect(vectors["first keyframe"] == RollbackPacket(.keyframe, keyframe.bytes).encoded)
    #expect(vectors["first inputs of a host"] == inputs.bytes)
    #expect(vectors["first inputs of a client"] == clientInputs.bytes)
    try host.receive(.inputs, clientInputs.bytes.span, from: seat, at: .zero)
    try client.receive(.inputs, inputs.bytes.span, at: .zero)
    client.step(nil, at: .zero)
    #expect(client.confirmed == host.state)
  }
}
