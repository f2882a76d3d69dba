import CaromCore
import CaromSimulation

extension Rink: Simulation {
  /// The supported player counts: exactly two players.
  public static var playerCounts: ClosedRange<Int> { 2...2 }

  /// Simulates one tick. Input 0 is the home player's and input 1 the away player's. The requests
  /// in the inputs, such as a pause, are carried out before anything moves, the home player's
  /// first.
  public mutating func step(_ inputs: Span<RinkInput>, events: inout [RinkEvent]) {
    precondition(inputs.count == 2, "air hockey needs exactly two inputs: home's and away's")
    carryOut(inputs[0].request, of: .home, &events)
    carryOut(inputs[1].request, of: .away, &events)
    step(home: target(inputs[0], .home), away: target(inputs[1], .away)).append(to: &events)
  }

  private func target(_ input: RinkInput, _ seat: Seat) -> MalletInput {
    input.mallet ?? MalletInput(state[mallet: seat].vector)
  }

  private mutating func carryOut(
    _ request: RinkInput.Request?, of seat: Seat, _ events: inout [RinkEvent]
  ) {
    switch request {
    case nil: break
    case .pause: if apply(.pause(seat)) { events.append(.paused(seat)) }
    case .resume: if apply(.resume(seat)) { events.append(.resumed(seat)) }
    case .startMatch: if apply(.startMatch(seat)) { events.append(.matchStarted) }
    case .restart:
      guard seat == .home else { return }
      startMatch()
      events.append(.matchStarted)
    }
  }

  /// Describes every field of the match, the puck and the mallets, for desync reports.
  public func describe(into description: inout SimulationDescription) {
    let (code, seat, remaining) = state.phase.fields
    description.entity("match")
    description.field("tick", Int64(bitPattern: state.tick.rawValue))
    description.field("phase", Int64(code))
    description.field("phase seat", Int64(seat))
    description.field("remaining", Int64(remaining))
    description.field("pauses", Int64(state.pauses.rawValue))
    description.field("match", Int64(state.match))
    description.field("home goals", Int64(state.score.home))
    description.field("away goals", Int64(state.score.away))
    description.entity("puck")
    description.field("x", state.puck.position.x)
    description.field("y", state.puck.position.y)
    description.field("velocity x", state.puck.velocity.x)
    description.field("velocity y", state.puck.velocity.y)
    description.field("spin", state.puck.spin)
    for seat in Seat.allCases {
      description.entity("mallet", UInt64(seat.rawValue))
      description.field("x", state[mallet: seat].x)
      description.field("y", state[mallet: seat].y)
    }
  }
}

extension Rink: PacketCodable {
  /// Appends the state as `RinkState.encode(into:)` encodes it.
  public func encode(into writer: inout PacketWriter) { state.encode(into: &writer) }

  /// Creates a rink by decoding a state. Throws if the state is invalid.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    let state = try RinkState(decoding: &reader)
    self.init(state)
  }
}
