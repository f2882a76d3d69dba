import AirHockey
import AirHockeyTerminal
import Carom
import CaromPhysics
import CaromSimulation
import TerminalText

// The client and spectator side: it simulates the match and is corrected by the host.
extension NetGame {
  /// The number of desyncs after which the host is assumed to run another version of the game.
  static let desyncLimit = 8

  /// Joins the match of a host, which begins with the host's first state.
  func beginJoining(_ host: Peer) {
    guard let session else { return }
    summary.role = setup.isSpectator ? "watcher" : "client"
    (finalScore, lastWonMatch, desyncs, keyframes) = (nil, nil, 0, 0)
    names = SeatValues(nil, nil)
    (requests, view, hasPaused) = ([], RinkView(), false)
    recording?.beginNextFile()
    let match = JoinedRollback<Rink>(
      host, over: session, channels: .match,
      roundTrip: session.node.assumeIsolated {
        $0.statistics(of: host.connectionID)?.roundTrip
      }, stateLimit: setup.firstStateLimit)
    role = .client(match)
    opponentJoined(host)
  }

  func receive(_ match: JoinedRollback<Rink>, over session: Session, at now: Instant) {
    match.receive(at: now)
    noteSignOfLife(of: match)
    if match.client.keyframeCount > keyframes { handleKeyframe(of: match) }
    for notice in session.takeMessages(on: .notices) where notice.peer == match.host {
      if !take(notice.message) { reject(match.host) }
    }
    while !isOver, let notice = match.pollNotice() { handle(notice, of: match) }
  }

  /// Checks a new keyframe, and announces the match at the first one. The host must have given this
  /// side its seat.
  private func handleKeyframe(of match: JoinedRollback<Rink>) {
    guard let rollback = match.client.rollback else { return }
    let state = rollback.state.state
    let isFirst = keyframes == 0
    keyframes = match.client.keyframeCount
    guard (match.player == nil) == setup.isSpectator, state.tick == rollback.tick,
      match.client.rate == Preset.ticksPerSecond
    else { return reject(match.host) }
    guard isFirst else { return }
    computer = ComputerPlayer(seat, strength: setup.strength, seed: .random(in: 0 ... .max))
    showNames()
    guard hasBegun(state) else { return }
    if state.score == Score() {
      show(.matchStarted, state)
    } else {
      display.write("game \(state.match) stands at \(state.score)")
    }
  }

  /// Whether there is a match to see. Match 0 is a table at which no client has played yet.
  private func hasBegun(_ state: RinkState) -> Bool { state.match > 0 || !setup.isSpectator }

  private func handle(
    _ notice: JoinedRollback<Rink>.Notice, of match: JoinedRollback<Rink>
  ) {
    switch notice {
    case .interrupted: opponentInterrupted()
    case .resumed: opponentResumed()
    case .desynced(let desync):
      desyncs += 1
      display.write("out of sync with the host at \(desync); it sends the match again")
      if desyncs > Self.desyncLimit { reject(match.host) }
    case .left(let reason):
      showConfirmedEvents(of: match)
      showFinalScore()
      opponentLeft(reason)
    case .seated, .inputsLate, .inputsOnTime, .missed: break
    }
  }

  /// Takes a notice of the host. Returns false if the host must not send it.
  private func take(_ notice: MatchNotice) -> Bool {
    switch notice {
    case .playing(let home, let away):
      names = SeatValues(Self.plain(home), Self.plain(away))
      // Before the first state, this side does not know its seat.
      if keyframes > 0 { showNames() }
      return true
    case .ended(let match, let score):
      guard finalScore == nil else { return false }
      finalScore = (match, score)
      leaveSoon()
      return true
    case .finish: return false
    }
  }

  private static func plain(_ name: String) -> String? {
    name.isEmpty ? nil : TextWidth.plain(name)
  }

  /// Notes who plays whom, and displays it unless this side plays against the host itself.
  private func showNames() {
    if setup.isSpectator {
      summary.peer = names.home ?? summary.peer
      summary.watchedClient = names.away
    } else {
      summary.peer = names[seat.opponent] ?? summary.peer
    }
    guard let home = names.home, let away = names.away else { return }
    guard setup.isPlayer else { return display.write("\(home) plays against \(away)") }
    guard let other = names[seat.opponent], other != opponent?.name else { return }
    display.write("you play against \(other)")
  }

  /// Displays the final score that the host has sent.
  func showFinalScore() {
    guard let (match, score) = finalScore else { return }
    if let winner = Seat.allCases.first(where: { score[$0] == Preset.goalsToWin }) {
      showWinner(winner, match, score)
    }
    display.write("final score \(score)")
  }

  func step(_ match: JoinedRollback<Rink>, at now: Instant) {
    guard let state = match.state?.state, let tick = match.client.rollback?.tick else {
      match.advance()
      return
    }
    let isRequestDue = !requests.isEmpty && !match.client.isInputPending
    let request = isRequestDue ? requests.removeFirst() : nil
    let mallet = localInput(in: state, at: now) ?? MalletInput(state[mallet: seat].vector)
    match.advance(with: RinkInput(mallet, request: request))
    if timers.ending == nil, hasBegun(state) { isPlaying = true }
    if let corrected = match.client.rollback?.state(at: tick)?.state, corrected != state {
      view.correct(from: state, to: corrected, at: now)
      meters.network.recordCorrection(
        (corrected.puck.position.vector - state.puck.position.vector).length)
    }
    showConfirmedEvents(of: match)
  }

  private func localInput(in state: RinkState, at now: Instant) -> MalletInput? {
    if setup.isSpectator { return nil }
    if setup.bot { return computer.input(for: state) }
    return display.input(of: seat, in: state, at: now)
  }

  private func showConfirmedEvents(of match: JoinedRollback<Rink>) {
    while let next = match.pollEvent() {
      guard case .confirmed(let event, let tick) = next,
        let state = match.client.rollback?.state(at: tick.next)?.state
      else { continue }
      show(event, state)
    }
  }
}
