import AirHockey
import CaromCore
import CaromPhysics
import CaromSimulation
import Testing
import WebEngine

@testable import AirHockeyEngine

struct LocalMatchTests {
  /// The time of tick `number`, and a little more.
  private func time(of number: Int) -> Instant {
    Instant(nanoseconds: Int64(number) * 1_000_000_000 / 60 + 1_000_000)
  }

  @Test func `every tick is played when it is due`() {
    let engine = AirHockeyEngine()
    engine.start(home: .hard, away: .medium, seed: 3, at: .zero)
    var ticks = 0
    for number in 1...120 { ticks += engine.step(at: time(of: number)) }
    #expect(ticks == 120)
    #expect(engine.confirmed?.tick == 120)
    #expect(engine.state(at: time(of: 120)).link == .none)
  }

  @Test func `a mallet stays where it is until a person touches it`() {
    let engine = AirHockeyEngine()
    engine.start(home: nil, away: nil, seed: 1, at: .zero)
    for number in 1...30 { engine.step(at: time(of: number)) }
    let start = engine.state(at: time(of: 30)).rink?.homeMallet
    #expect(start == RinkState().homeMallet)
    engine.setTarget(Vector(-0.65, 0.1), of: .home)
    for number in 31...60 { engine.step(at: time(of: number)) }
    let moved = engine.state(at: time(of: 60)).rink
    #expect(moved?.homeMallet == LatticePoint(Vector(-0.65, 0.1)))
    #expect(moved?.awayMallet == RinkState().awayMallet)
  }

  @Test func `a new match forgets targets and events of the one before`() {
    let engine = AirHockeyEngine()
    engine.start(home: nil, away: nil, seed: 1, at: .zero)
    engine.setTarget(Vector(-0.4, 0.1), of: .home)
    engine.add(.pause, of: .home)
    engine.step(at: time(of: 5))
    engine.start(home: nil, away: nil, seed: 1, at: time(of: 5))
    #expect(engine.pollEvent() == nil)
    for number in 6...60 { engine.step(at: time(of: number)) }
    #expect(engine.state(at: time(of: 60)).rink?.homeMallet == RinkState().homeMallet)
  }

  @Test func `what is drawn lies between two ticks, but for people and what was placed`() {
    var previous = RinkState()
    var state = RinkState()
    state.puck.position = LatticePoint(Vector(0.1, 0.2))
    previous.awayMallet = LatticePoint(Vector(0.5, 0))
    state.awayMallet = LatticePoint(Vector(0.6, 0))
    previous.homeMallet = LatticePoint(Vector(-0.5, 0))
    state.homeMallet = LatticePoint(Vector(-0.6, 0))
    let drawn = state.drawn(from: previous, 0.25, people: [.home])
    #expect((drawn.puck.position.vector - Vector(0.025, 0.05)).length < 1e-6)
    #expect((drawn.awayMallet.vector - Vector(0.525, 0)).length < 1e-6)
    #expect(drawn.homeMallet == state.homeMallet)
    previous.puck.position = LatticePoint(Vector(-0.9, 0))
    #expect(state.drawn(from: previous, 0.25, people: []).puck == state.puck)
  }

  @Test func `the state has the length and the fields that the page reads`() {
    var state = EngineState()
    state.rink = RinkState(match: 513, tick: Tick(7))
    state.rink?.score = Score(home: 3, away: 4)
    state.seat = .away
    state.link = .playing
    state.roundTrip = .milliseconds(40)
    var writer = PacketWriter()
    state.encode(into: &writer)
    let bytes = writer.bytes
    #expect(bytes.count == EngineState.encodedLength)
    #expect(Array(bytes[48..<56]) == Self.bytes(of: 7))
    #expect(Array(bytes[56..<64]) == Self.bytes(of: 40))
    #expect(Array(bytes[68..<75]) == [3, 4, 0, 1, 1, 2, 3])
    #expect(bytes[64] == 0 && bytes[65] == 255)
  }

  private static func bytes(of value: Double) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) }
  }
}
