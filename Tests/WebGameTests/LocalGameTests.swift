import CaromCore
import CaromProtocol
import CaromSimulation
import Testing
import WebEngine

@testable import WebGame

struct LocalGameTests {
  /// The time of tick `number`, and a little more.
  private func time(of number: Int) -> Instant {
    Instant(nanoseconds: Int64(number) * 1_000_000_000 / 60 + 1_000_000)
  }

  private func makeEngine() -> GameEngine<Step> {
    GameEngine(Step.self, encode: eventEncoding(of: Step.self))
  }

  @Test func `every tick is played when it is due, with the inputs of all players`() throws {
    let engine = makeEngine()
    #expect(engine.state(.current) == nil && engine.confirmed == nil)
    #expect(engine.start(Step().encoded, players: 2, rate: 60, at: .zero))
    #expect(engine.setInput([3, 1], for: 0) && engine.setInput([-2, 0], for: 1))
    var ticks = 0
    for number in 1...10 { ticks += engine.step(at: time(of: number)) }
    #expect(ticks == 10)
    let state = try decode(engine.state(.current))
    #expect(state.places == [30, -20] && state.jumps == 1)
    #expect(engine.confirmed?.tick == 10 && engine.confirmed?.hash == state.hash)
    #expect(try decode(engine.state(.previous)).places == [27, -18])
    #expect(engine.state(.confirmed) == state.encoded)
    let status = engine.status(at: time(of: 10).advanced(by: .milliseconds(4)))
    #expect(status.tick == Tick(10) && status.rate == 60 && status.link == .none)
    #expect(abs(status.fraction - 0.3) < 0.01)
  }

  @Test func `an event tells the page what happened, and in which tick`() throws {
    let engine = makeEngine()
    #expect(engine.start(Step().encoded, players: 2, rate: 60, at: .zero))
    engine.step(at: time(of: 3))
    #expect(engine.setInput([0, 1], for: 1))
    engine.step(at: time(of: 5))
    let next = engine.events.popFirst()
    let event = try #require(next)
    #expect(event == GameEvent(.confirmed, Tick(3), [1]))
    #expect(engine.events.popFirst() == nil)
    var writer = PacketWriter()
    event.encode(into: &writer)
    #expect(writer.bytes == [2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8, 0x40, 1])
    #expect(writer.bytes.count == event.encodedLength)
  }

  @Test func `an event without an encoding, or with one that is too long, has no bytes`() {
    let engine = GameEngine(Step.self, encode: nil)
    #expect(engine.start(Step().encoded, players: 2, rate: 60, at: .zero))
    #expect(engine.setInput([0, 1], for: 0))
    engine.step(at: time(of: 1))
    #expect(engine.events.popFirst()?.bytes == [])
    let most = [UInt8](repeating: 1, count: GameEvent.lengthLimit)
    #expect(GameEvent(.predicted, .zero, most).bytes == most)
    #expect(GameEvent(.predicted, .zero, most + [1]).bytes == [])
  }

  @Test func `what the game does not have is refused, and the match goes on`() {
    let engine = makeEngine()
    #expect(!engine.setInput([0, 0], for: 0))
    #expect(engine.start(Step().encoded, players: 2, rate: 60, at: .zero))
    #expect(!engine.start([1, 2], players: 2, rate: 60, at: .zero))
    #expect(!engine.start(Step().encoded, players: 3, rate: 60, at: .zero))
    #expect(!engine.start(Step().encoded, players: 2, rate: 0, at: .zero))
    #expect(!engine.start(Step().encoded, players: 2, rate: 1001, at: .zero))
    #expect(!engine.setInput([0, 2], for: 0) && !engine.setInput([0], for: 0))
    #expect(!engine.setInput([0, 0], for: 2) && !engine.setInput([0, 0], for: -1))
    #expect(engine.step(at: time(of: 2)) == 2)
  }

  @Test func `the status has the fields that the page reads`() {
    var status = GameStatus()
    status.tick = Tick(7)
    status.roundTrip = .milliseconds(40)
    status.link = .playing
    status.player = 3
    status.predictedTicks = 300
    status.inputDelay = 513
    status.desyncs = 1
    status.rate = 60
    var writer = PacketWriter()
    status.encode(into: &writer)
    #expect(writer.bytes.count == GameStatus.encodedLength)
    #expect(Array(writer.bytes[6..<8]) == [0x1C, 0x40])
    #expect(Array(writer.bytes[22...]) == [0x44, 0x40, 3, 3, 255, 0, 1, 2, 1, 0, 60, 0])
    writer.removeAll()
    GameStatus().encode(into: &writer)
    #expect(Array(writer.bytes[22...25]) == [0xF0, 0xBF, 0, 255])
  }
}

struct JoinRequestTests {
  private func bytes(
    _ application: String, _ name: [UInt8] = Array("Leo".utf8), channels: [UInt8] = [54, 55]
  ) -> [UInt8] {
    let id = [UInt8](1...16)
    return id + [2, 1] + channels + [UInt8(application.utf8.count)] + application.utf8 + name
  }

  @Test func `a request names the player and the game`() throws {
    let bytes = bytes("steps")
    let request = try JoinRequest(bytes.span)
    #expect(request.info.id == PeerID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10))
    #expect(request.info.name == "Leo" && request.info.application == "steps")
    #expect(request.info.applicationVersion == 258)
    #expect(request.inputs == 54 && request.control == 55)
  }

  @Test func `a name that is too long is cut between characters`() throws {
    let long = bytes("steps", Array(String(repeating: "ü", count: 40).utf8))
    #expect(try JoinRequest(long.span).info.name == String(repeating: "ü", count: 31))
    let none = bytes("steps", [])
    #expect(try JoinRequest(none.span).info.name.isEmpty)
  }

  @Test func `a request that makes no sense is refused`() {
    let all = bytes("steps")
    for length in 0..<26 {
      let cut = Array(all[..<length])
      #expect(throws: DecodeError.self) { try JoinRequest(cut.span) }
    }
    let wrong = [
      bytes(""), bytes(String(repeating: "x", count: 33)), bytes("steps", [0xFF]),
      bytes("steps", channels: [54, 54]),
    ]
    for request in wrong {
      #expect(throws: DecodeError.self) { try JoinRequest(request.span) }
    }
  }
}
