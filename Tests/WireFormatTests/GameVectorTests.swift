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

  @Test func `every vector is one of the four channels'`() {
    let starts = ["state ", "mallet input", "event ", "request "]
    for name in vectors.keys { #expect(starts.contains { name.hasPrefix($0) }, "\(name)") }
  }

  @Test func `states are written as their vectors and read from them`() throws {
    try check("state ", GameStates.all)
    for (name, bytes) in vectors where name.hasPrefix("state ") { #expect(bytes.count == 90) }
  }

  @Test func `mallet inputs are written as their vectors and read from them`() throws {
    try check(
      "mallet input",
      [
        "mallet input": GuestInput(
          tick: Tick(1), clock: Instant(nanoseconds: 123_456_789),
          mallet: MalletInput(x: 7_500, y: -258)),
        "mallet input into a corner": GuestInput(
          tick: Tick(0x0102_0304_0506_0708), clock: Instant(nanoseconds: -1),
          mallet: MalletInput(x: 9_740, y: -5_190)),
      ])
  }

  @Test func `events are written as their vectors and read from them`() throws {
    func event(_ kind: TableEvent.Kind, _ home: UInt8, _ away: UInt8) -> TableEvent {
      TableEvent(
        tick: Tick(0x0102_0304_0506_0708), kind: kind, match: 0x0203,
        score: Score(home: home, away: away))
    }
    try check(
      "event ",
      [
        "event match begins": event(.matchStarted, 0, 0),
        "event goal of away": event(.goal(.away), 3, 5),
        "event paused by home": event(.paused(.home), 3, 5),
        "event resumed by away": event(.resumed(.away), 3, 5),
        "event match ended": event(.matchEnded(winner: .away), 5, 7),
        "event session ended": event(.sessionEnded, 3, 5),
      ])
  }

  @Test func `requests are written as their vectors and read from them`() throws {
    try check(
      "request ",
      [
        "request to pause": GuestRequest.pause, "request to resume": .resume,
        "request for the next match": .startMatch, "request to finish": .finish,
      ])
  }

  @Test func `a host says first that the match begins, and guests count from one`() {
    var host = HostedMatch()
    let first = host.takeEvents().map(\.kind)
    #expect(first == [.matchStarted])
    var guest = JoinedMatch()
    let input = guest.step(MalletInput(x: 0, y: 0), at: .zero)
    #expect(input.tick == Tick(1))
  }
}
