import AirHockey
import Carom
import CaromSimulation

/// The message that a benchmark's host sends to its client each tick.
struct HockeyState: PacketCodable, Sendable {
  var clock: Instant
  var rink: RinkState

  init(clock: Instant, rink: RinkState) {
    self.clock = clock
    self.rink = rink
  }

  func encode(into writer: inout PacketWriter) {
    writer.write(UInt64(bitPattern: clock.nanoseconds))
    rink.encode(into: &writer)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    clock = Instant(nanoseconds: Int64(bitPattern: try reader.read(UInt64.self)))
    rink = try RinkState(decoding: &reader)
  }
}

/// The message that a benchmark's client sends to its host each tick.
struct HockeyInput: PacketCodable, Sendable {
  var tick: UInt64
  var mallet: MalletInput

  init(tick: UInt64, mallet: MalletInput) {
    self.tick = tick
    self.mallet = mallet
  }

  func encode(into writer: inout PacketWriter) {
    writer.write(tick)
    mallet.encode(into: &writer)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    tick = try reader.read()
    mallet = try MalletInput(decoding: &reader)
  }
}

/// An air hockey match for benchmarks, whose host sends a state each tick. Both mallets follow the
/// puck, so the match goes on without the cost of a computer player.
struct HockeyWorld: FramesWorld {
  private var rink = Rink()
  private var latestInput: HockeyInput?

  init(index: Int, entities: Int) {}

  mutating func receive(_ input: HockeyInput) {
    if input.tick > latestInput?.tick ?? 0 { latestInput = input }
  }

  mutating func step(at now: Instant) -> HockeyState {
    let puck = rink.state.puck.position.vector
    let away = latestInput?.mallet ?? MalletInput(rink.state[mallet: .away].vector)
    if rink.step(home: MalletInput(Vector(min(puck.x, -0.2), puck.y)), away: away).winner != nil {
      rink.startMatch()
    }
    return HockeyState(clock: now, rink: rink.state)
  }

  static func input(_ tick: UInt64, seeing state: HockeyState?, at now: Instant) -> HockeyInput {
    let puck = state?.rink.puck.position.vector ?? Vector(0.5, 0)
    return HockeyInput(tick: tick, mallet: MalletInput(Vector(max(puck.x, 0.2), puck.y)))
  }

  static func stamp(of state: HockeyState) -> (tick: UInt64, clock: Instant) {
    (state.rink.tick.rawValue, state.clock)
  }
}
