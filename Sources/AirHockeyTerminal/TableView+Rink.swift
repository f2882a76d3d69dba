import AirHockey
import CaromPhysics

extension TableView {
  /// Creates a view of the match as seen by `seat`, whose player is shown on the left.
  package init(_ state: RinkState, seenFrom seat: Seat, names: (own: String, other: String)) {
    let own = seat == .home ? state : state.mirrored
    self.init(
      left: Player(
        name: names.own, score: Int(own.score.home), mallet: own.homeMallet.vector),
      right: Player(
        name: names.other, score: Int(own.score.away), mallet: own.awayMallet.vector),
      puck: own.puck.position.vector)
    banner = Self.banner(of: own, names: names)
    if case .goalPause(let scorer, let remaining) = own.phase {
      let left = Double(remaining) / Double(Preset.goalPauseTicks)
      flash = (Self.side(scorer), left)
      puck = nil
    }
    if case .foulPause = own.phase { puck = nil }
    if case .matchEnd = own.phase { puck = nil }
  }

  private static func side(_ seat: Seat) -> Side { seat == .home ? .left : .right }

  /// Returns the banner for a phase of the match, as seen by the home player, or nil if there is
  /// none.
  private static func banner(
    of state: RinkState, names: (own: String, other: String)
  ) -> Banner? {
    let name = { (seat: Seat) in seat == .home ? names.own : names.other }
    let score = "\(state.score.home) – \(state.score.away)"
    if state.isPaused {
      let who = state.pauses == .home ? names.own : state.pauses == .away ? names.other : "both"
      return Banner("Paused", detail: "held by \(who) · p to go on")
    }
    switch state.phase {
    case .goalPause(let scorer, let remaining) where remaining > Preset.goalPauseTicks / 4:
      return Banner("Goal!", detail: "\(name(scorer)) · \(score)", side: side(scorer))
    case .foulPause(let seat, _):
      let rule = "\(name(seat)) kept the puck too long"
      return Banner("Foul", detail: rule, side: side(seat.opponent))
    case .matchEnd(let winner):
      let detail = "\(name(winner)) wins \(score) · space for the next game"
      return Banner("Game over", detail: detail, side: side(winner))
    case .faceOff, .goalPause, .serve, .playing: return nil
    }
  }
}
