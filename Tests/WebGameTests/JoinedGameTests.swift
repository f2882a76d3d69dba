import CaromCore
import CaromProtocol
import CaromSimulation
import Testing
import WebEngine

@testable import WebGame

/// An engine and a host on the time of the test.
private struct Meeting<Game: Simulation & PacketCodable> {
  let engine: GameEngine<Game>
  var host: GameHost
  var now = Instant(nanoseconds: 1_000_000_000)
  var linkEvents: [LinkEvent] = []
  var events: [GameEvent] = []

  init(_ engine: GameEngine<Game>, application: String = "steps") {
    self.engine = engine
    host = GameHost(application: application, at: now)
    let local = PeerInfo(id: PeerID(high: 2, low: 2), name: "Leo", application: "steps")
    engine.join(as: local, channels: (inputs: 54, control: 55), at: now)
  }

  /// Opens a link. Returns whether the engine uses it.
  @discardableResult
  mutating func open() -> Bool {
    host.accept(at: now)
    return engine.openLink(at: now)
  }

  /// Plays for some time, in steps of four milliseconds.
  mutating func play(_ duration: Duration, isConnected: Bool = true) {
    let end = now + duration
    while now < end {
      now = now.advanced(by: .milliseconds(4))
      engine.step(at: now)
      if isConnected { host.exchange(with: engine, at: now) }
      while let event = engine.linkEvents.popFirst() { linkEvents.append(event) }
      while let event = engine.events.popFirst() { events.append(event) }
    }
  }

  var link: LinkState { engine.status(at: now).link }
}

extension Meeting where Game == Step {
  init(application: String = "steps") {
    self.init(
      GameEngine(Step.self, encode: eventEncoding(of: Step.self)), application: application)
  }
}

struct JoinedGameTests {
  @Test func `an engine plays in step with a host, which carries out its inputs`() throws {
    var meeting = Meeting()
    let isUsed = meeting.open()
    #expect(isUsed && meeting.link == .connecting)
    meeting.play(.seconds(1))
    #expect(meeting.linkEvents == [.joined] && meeting.engine.hostName == "Maya")
    // The input is that of this page's player, also if player 0 is named.
    #expect(meeting.engine.setInput([4, 1], for: 0))
    meeting.play(.seconds(3))
    let state = meeting.host.match.server.state
    #expect(state.places[0] == 0 && state.places[1] > 4 * 140 && state.jumps == 1)
    let status = meeting.engine.status(at: meeting.now)
    #expect(status.link == .playing && status.player == 1 && status.rate == 50)
    #expect(status.desyncs == 0 && status.predictedTicks > 0)
    #expect(status.roundTrip.map { (38...50).contains($0.inMilliseconds) } == true)
    let confirmed = try #require(meeting.engine.confirmed)
    let history = meeting.host.match.server.broadcaster.history
    #expect(confirmed.tick > 150)
    #expect(confirmed.hash == history.state(at: Tick(confirmed.tick))?.hash)
    #expect(meeting.engine.state(.confirmed) == history.state(at: Tick(confirmed.tick))?.encoded)
    let current = try decode(meeting.engine.state(.current))
    let previous = try decode(meeting.engine.state(.previous))
    #expect(current.places[1] == previous.places[1] + 4)
  }

  @Test func `an own action is an event twice: predicted, and confirmed in the same tick`() throws {
    var meeting = Meeting()
    meeting.open()
    #expect(meeting.engine.setInput([0, 1], for: 1))
    meeting.play(.seconds(2))
    #expect(meeting.events.map(\.certainty) == [.predicted, .confirmed])
    #expect(meeting.events.allSatisfy { $0.bytes == [1] })
    #expect(Set(meeting.events.map(\.tick)).count == 1)
  }

  @Test func `a broken link is followed by another one, and nothing is lost`() {
    var meeting = Meeting()
    meeting.open()
    meeting.play(.seconds(2))
    meeting.host.breakStream(at: meeting.now)
    meeting.engine.closeLink(.reset, at: meeting.now)
    meeting.play(.milliseconds(500), isConnected: false)
    #expect(meeting.link == .interrupted)
    #expect(meeting.linkEvents == [.joined, .interrupted, .reconnect])
    meeting.open()
    meeting.play(.seconds(2))
    #expect(meeting.link == .playing && meeting.linkEvents.last == .resumed)
    #expect(meeting.engine.status(at: meeting.now).desyncs == 0 && meeting.host.ended == [])
  }

  @Test func `messages on other channels are not the page's`() {
    var meeting = Meeting()
    meeting.open()
    meeting.play(.seconds(1))
    meeting.host.send([1, 2, 3], on: 7, at: meeting.now)
    meeting.play(.seconds(1))
    #expect(meeting.link == .playing && meeting.linkEvents == [.joined])
  }

  @Test func `another simulation is found out, and the page leaves`() {
    var meeting = Meeting(GameEngine(OtherStep.self, encode: nil))
    meeting.open()
    meeting.play(.seconds(30))
    #expect(meeting.engine.status(at: meeting.now).desyncs == 1 + GameEngine<Step>.desyncLimit)
    #expect(meeting.linkEvents == [.joined, .left(.violation)])
    #expect(meeting.link == .ended && meeting.host.ended == [.protocolViolation])
  }

  @Test func `another game is told apart`() {
    var meeting = Meeting(application: "chess")
    meeting.open()
    meeting.play(.milliseconds(200))
    #expect(meeting.linkEvents == [.left(.otherGame)] && meeting.engine.hostName.isEmpty)
  }

  @Test func `leaving says goodbye, and a new game has nothing of the old one`() {
    var meeting = Meeting()
    meeting.open()
    #expect(meeting.engine.setInput([4, 1], for: 1))
    meeting.play(.seconds(1))
    meeting.engine.leave(at: meeting.now)
    meeting.play(.milliseconds(200))
    #expect(meeting.host.ended == [.left] && meeting.linkEvents.last == .left(.closed))
    meeting.engine.linkEvents.append(.resumed)
    #expect(meeting.engine.start(Step().encoded, players: 2, rate: 50, at: meeting.now))
    #expect(meeting.engine.linkEvents.popFirst() == nil)
    meeting.engine.step(at: meeting.now + .milliseconds(100))
    #expect(meeting.engine.state(.current) == Step().encoded && meeting.link == .none)
  }
}
