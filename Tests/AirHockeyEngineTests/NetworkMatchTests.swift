import AirHockey
import CaromCore
import CaromPhysics
import CaromProtocol
import CaromSimulation
import Testing
import WebEngine

@testable import AirHockeyEngine

/// An engine and a host on the time of the test.
private struct Meeting {
  let engine = AirHockeyEngine()
  var host: TestHost
  var now = Instant(nanoseconds: 1_000_000_000)
  var events: [EngineEvent] = []

  init(
    version: UInt16 = NetworkMatch.version, seats: Int = 1, client: Seat = .away,
    table: UInt16 = 0, isSpectator: Bool = false
  ) {
    host = TestHost(version: version, seats: seats, client: client, at: now)
    engine.join(
      as: PeerID(high: 2, low: 2), name: "Leo", table: table, isSpectator: isSpectator, at: now)
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
      let state = engine.state(at: now)
      if let puck = state.rink?.puck.position.vector {
        engine.setTarget(Vector(0.7, 0.7 * puck.y), of: .away)
        engine.setTarget(Vector(-0.7, 0.7 * puck.y), of: .home)
      }
      engine.step(at: now)
      if isConnected { host.exchange(with: engine, at: now) }
      while let event = engine.pollEvent() { events.append(event) }
    }
  }

  var link: LinkState { engine.state(at: now).link }
}

struct NetworkMatchTests {
  @Test func `an engine plays in step with a host`() throws {
    var meeting = Meeting()
    let isUsed = meeting.open()
    #expect(isUsed)
    #expect(meeting.link == .connecting)
    meeting.play(.seconds(10))
    #expect(meeting.link == .playing)
    // A connection has one link at a time.
    let isUsedToo = meeting.engine.openLink(at: meeting.now)
    #expect(!isUsedToo)
    #expect(meeting.events.first == .joined)
    #expect(meeting.engine.hostName == "Maya")
    let state = meeting.engine.state(at: meeting.now)
    #expect(state.desyncs == 0)
    #expect(state.seat == .away)
    #expect(state.roundTrip.map { (38...50).contains($0.inMilliseconds) } == true)
    let confirmed = try #require(meeting.engine.confirmed)
    #expect(confirmed.tick > 500)
    let history = meeting.host.match.server.broadcaster.history
    #expect(confirmed.hash == history.state(at: Tick(confirmed.tick))?.hash)
  }

  @Test func `a match moves to a data channel that loses datagrams, and back to the stream`() throws
  {
    var meeting = Meeting()
    let isTooEarly = meeting.engine.openDatagrams(at: meeting.now)
    meeting.open()
    meeting.play(.seconds(3))
    #expect(!isTooEarly && meeting.engine.messageLink == .stream && meeting.host.datagrams == 0)
    meeting.host.channel = Route(throughChannel: Endpoint(.v4(0x0A00_0002), port: 5000), socket: 0)
    let isUsed = meeting.engine.openDatagrams(at: meeting.now)
    meeting.play(.seconds(3))
    #expect(isUsed && meeting.engine.messageLink == .datagram && meeting.host.datagrams > 100)
    let confirmed = try #require(meeting.engine.confirmed)
    #expect(confirmed.tick > 300)
    let history = meeting.host.match.server.broadcaster.history
    #expect(confirmed.hash == history.state(at: Tick(confirmed.tick))?.hash)
    meeting.host.channel = nil
    meeting.engine.closeDatagrams(at: meeting.now)
    meeting.play(.seconds(3))
    #expect(meeting.engine.messageLink == .stream && meeting.link == .playing)
    #expect(meeting.events.allSatisfy { $0 != .interrupted })
    #expect(meeting.engine.state(at: meeting.now).desyncs == 0)
    #expect(try #require(meeting.engine.confirmed).tick > confirmed.tick + 150)
  }

  @Test func `a page names its table, and watches without a seat`() throws {
    var meeting = Meeting(table: 3, isSpectator: true)
    meeting.open()
    meeting.play(.seconds(10))
    #expect(meeting.host.requested?.match == 3)
    #expect(meeting.host.requested?.isSpectator == true)
    #expect(meeting.link == .playing)
    let state = meeting.engine.state(at: meeting.now)
    #expect(state.seat == nil && state.desyncs == 0)
    #expect(state.rink?.awayMallet.vector == RinkState().awayMallet.vector)
    let confirmed = try #require(meeting.engine.confirmed)
    #expect(confirmed.tick > 500)
    let history = meeting.host.match.server.broadcaster.history
    #expect(confirmed.hash == history.state(at: Tick(confirmed.tick))?.hash)
    let hasTouches = meeting.events.contains {
      if case .game(.touch) = $0 { true } else { false }
    }
    #expect(hasTouches)
  }

  @Test func `a spectator that gets a seat, and a player that gets none, leave`() {
    var watching = Meeting(isSpectator: true)
    watching.host.seatsSpectators = true
    watching.open()
    watching.play(.seconds(2))
    #expect(watching.events.last == .left(.violation))
    var playing = Meeting(client: .away)
    playing.host.seatsPlayers = false
    playing.open()
    playing.play(.seconds(2))
    #expect(playing.events.last == .left(.violation))
  }

  @Test func `the inputs of the page reach the host in time`() {
    var meeting = Meeting()
    meeting.open()
    meeting.play(.seconds(4))
    #expect(!meeting.host.match.server.areInputsLate(of: 1))
    let mallet = meeting.host.match.server.state.state.awayMallet.vector
    #expect(abs(mallet.x - 0.7) < 0.01)
  }

  @Test func `a request is carried out once, by the host as well`() {
    var meeting = Meeting()
    meeting.open()
    meeting.play(.seconds(2))
    meeting.engine.add(.pause, of: .away)
    meeting.play(.seconds(1))
    #expect(meeting.host.match.server.state.state.pauses == .away)
    meeting.engine.add(.resume, of: .away)
    meeting.play(.seconds(1))
    #expect(meeting.host.match.server.state.state.pauses == [])
    #expect(meeting.events.filter { $0 == .game(.paused(.away)) }.count == 1)
  }

  @Test func `a broken link is followed by another one, and nothing is lost`() {
    var meeting = Meeting()
    meeting.open()
    meeting.play(.seconds(2))
    meeting.host.breakStream(at: meeting.now)
    meeting.engine.closeLink(.reset, at: meeting.now)
    meeting.play(.milliseconds(500), isConnected: false)
    #expect(meeting.link == .interrupted)
    #expect(meeting.events.suffix(2) == [.interrupted, .reconnect])
    meeting.open()
    meeting.play(.seconds(2))
    #expect(meeting.link == .playing)
    #expect(meeting.events.contains(.resumed))
    #expect(meeting.engine.state(at: meeting.now).desyncs == 0)
    #expect(meeting.host.ended == [])
  }

  @Test func `a link that does not come back ends the match after the resume limit`() {
    var meeting = Meeting()
    meeting.open()
    meeting.play(.seconds(2))
    meeting.engine.closeLink(.reset, at: meeting.now)
    meeting.play(SessionTiming().resumeLimit + .seconds(1), isConnected: false)
    #expect(meeting.link == .ended)
    #expect(meeting.events.last == .left(.timedOut))
    let isUsed = meeting.open()
    #expect(!isUsed)
  }

  @Test func `a link that cannot be opened ends the match`() {
    let meeting = Meeting()
    meeting.engine.closeLink(.reset, at: meeting.now)
    #expect(meeting.engine.pollEvent() == .left(.unreachable))
    #expect(meeting.link == .ended)
  }

  @Test func `the end of a session is told with its score`() throws {
    var meeting = Meeting()
    meeting.open()
    meeting.play(.seconds(2))
    meeting.host.finish(at: meeting.now)
    meeting.play(.milliseconds(100))
    let score = meeting.host.match.server.state.state.score
    #expect(meeting.events.suffix(2) == [.finalScore(score), .left(.finished)])
  }

  @Test func `a host of another version is told apart`() {
    var meeting = Meeting(version: 3)
    meeting.open()
    meeting.play(.milliseconds(200))
    #expect(meeting.events == [.left(.otherVersion)])
  }

  @Test func `a full host is told apart`() {
    var meeting = Meeting(seats: 0)
    meeting.open()
    meeting.play(.milliseconds(200))
    #expect(meeting.events == [.left(.full)])
  }

  @Test func `a client at home's seat plays in step with the host`() throws {
    var meeting = Meeting(client: .home)
    meeting.open()
    #expect(meeting.engine.state(at: meeting.now).seat == nil)
    meeting.play(.seconds(4))
    let state = meeting.engine.state(at: meeting.now)
    #expect(state.link == .playing && state.seat == .home && state.desyncs == 0)
    #expect(abs(meeting.host.match.server.state.state.homeMallet.vector.x + 0.7) < 0.01)
    meeting.engine.add(.pause, of: .home)
    meeting.play(.seconds(1))
    #expect(meeting.host.match.server.state.state.pauses == .home)
  }

  @Test func `the page learns who plays`() {
    var meeting = Meeting()
    meeting.open()
    meeting.play(.seconds(1))
    #expect(meeting.engine.playerNames == SeatValues("", ""))
    for (home, away) in [("Zoe", "Leo"), ("", "Leo")] {
      meeting.host.send(
        MatchNotice.playing(home: home, away: away).encoded, on: 2, at: meeting.now)
      meeting.play(.milliseconds(200))
      #expect(meeting.engine.playerNames == SeatValues(home, away))
    }
    #expect(meeting.events.filter { $0 == .playersChanged }.count == 2)
    #expect(EngineEvent.playersChanged.bytes == (38, 0, 0))
    #expect(meeting.link == .playing)
  }

  @Test(arguments: [[9], [0], [2, 9], []])
  func `a notice that no host sends ends the match`(bytes: [UInt8]) {
    var meeting = Meeting()
    meeting.open()
    meeting.play(.seconds(1))
    meeting.host.send(bytes, on: 2, at: meeting.now)
    meeting.play(.milliseconds(100))
    #expect(meeting.events.last == .left(.violation))
    #expect(meeting.host.ended == [.protocolViolation])
  }

  @Test func `leaving says goodbye`() {
    var meeting = Meeting()
    meeting.open()
    meeting.play(.seconds(1))
    meeting.engine.leave(at: meeting.now)
    meeting.play(.milliseconds(200))
    #expect(meeting.host.ended == [.left])
    #expect(meeting.events.last == .left(.closed))
  }
}
