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
        "word of a host whose clients play": .playing(home: "Miáa", away: "Leo"),
        "word of a host that waits for away": .playing(home: "Maya", away: ""),
      ])
    for score in [[8, 0], [0, 8], [7, 7]] as [[UInt8]] {
      #expect(throws: DecodeError.invalid(what: "score")) {
        try MatchNotice(decoding: ([1, 1, 0] + score).span)
      }
    }
    #expect(throws: DecodeError.invalid(what: "word")) { try MatchNotice(decoding: [3].span) }
  }

  @Test func `the first messages of a match equal their vectors`() throws {
    var server = RollbackServer(Rink(match: 0), players: 2, at: .zero)
    var requests = HomeRequests()
    requests.seatTaken(returning: false)
    server.setInput(requests.input(nil, in: server.state.state), for: 0)
    server.advance()
    let seat = server.addPlayer(1)
    let first = server.pollMessage()
    let keyframe = try #require(first)
    server.setInput(
      requests.input(MalletInput(x: -7_000, y: 255), in: server.state.state), for: 0)
    server.advance()
    let second = server.pollMessage()
    let inputs = try #require(second)
    var client = RollbackClient<Rink>(player: 1, window: SimulationLimits.window, at: .zero)
    try client.receive(.keyframe, keyframe.span, at: .zero)
    client.advance(with: RinkInput(MalletInput(x: 6_000, y: -5)))
    let reply = client.pollMessage()
    let clientInputs = try #require(reply)
    #expect(vectors["first keyframe"] == RollbackPacket(.keyframe, keyframe).encoded)
    #expect(vectors["first inputs of a host"] == inputs)
    #expect(vectors["first inputs of a client"] == clientInputs)
    try server.receive(.inputs, clientInputs.span, from: seat, at: .zero)
    try client.receive(.inputs, inputs.span, at: .zero)
    client.advance()
    #expect(client.confirmedState == server.state)
  }
}

extension RollbackServer {
  fileprivate mutating func pollMessage() -> [UInt8]? {
    var writer = PacketWriter()
    return pollTransmit(into: &writer) == nil ? nil : writer.bytes
  }
}

extension RollbackClient {
  fileprivate mutating func pollMessage() -> [UInt8]? {
    var writer = PacketWriter()
    return pollTransmit(into: &writer) == nil ? nil : writer.bytes
  }
}
