import AirHockey
import AirHockeyTerminal
import Carom
import CaromSimulation

// The host side: its simulation is authoritative, and all peers receive the match.
extension NetGame {
  /// Opens the match to the peers of the session. It is paused until a client takes the seat.
  func becomeHost() {
    guard let session else { return }
    if case .host = role { return }
    summary.role = "host"
    (finalScore, lastWonMatch, lastClient, desyncs) = (nil, nil, nil, 0)
    recording?.beginNextFile()
    let server = RollbackServer(
      Rink(match: 0), players: 2, rate: Preset.ticksPerSecond, at: loop.now)
    let match = HostedRollback(server, over: session, channels: .match, remotePlayers: [1])
    match.isPaused = true
    role = .host(match)
  }

  func receive(_ match: HostedRollback<Rink>, over session: Session, at now: Instant) {
    match.receive(at: now)
    while !isOver, let notice = match.pollNotice() { handle(notice, of: match) }
    for notice in session.takeMessages(on: .notices) where !isOver {
      // Only the client may end its game.
      guard notice.message == .finish, notice.peer == opponent else {
        reject(notice.peer)
        continue
      }
      if sendFinalScore(of: match, to: notice.peer) {
        notice.peer.disconnect(Goodbye(.finished), as: .finished)
      }
    }
  }

  private func handle(_ notice: HostedRollback<Rink>.Notice, of match: HostedRollback<Rink>) {
    switch notice {
    case .joined(let peer, player: nil):
      display.write("\(peer.name) watches")
      send(.playing(against: clientName), to: peer)
    case .joined(let peer, player: _?): begin(match, with: peer)
    case .left(_, player: _?, .replaced): (opponent, isInterrupted) = (nil, false)
    case .left(_, player: _?, let reason):
      match.isPaused = true
      opponentLeft(reason)
      tellSpectators(of: match)
    case .interrupted(_, player: _?): opponentInterrupted()
    case .resumed(_, player: _?): opponentResumed()
    default: break
    }
  }

  /// Begins a match at 0-0 with a new client, or continues the match of a returning one.
  private func begin(_ match: HostedRollback<Rink>, with client: Peer) {
    let isReturning = client.id == lastClient
    lastClient = client.id
    opponentJoined(client)
    homeRequests.seatTaken(returning: isReturning)
    if isReturning { match.server.setInput(RinkInput(nil, request: .resume), for: 1) }
    endInterruptionPause()
    tellSpectators(of: match)
    computer = ComputerPlayer(.home, strength: setup.strength, seed: .random(in: 0 ... .max))
    match.isPaused = false
    isPlaying = true
  }

  /// Sends the name of the client to all spectators.
  private func tellSpectators(of match: HostedRollback<Rink>) {
    for peer in match.peers where match.player(of: peer) == nil {
      send(.playing(against: clientName), to: peer)
    }
  }

  /// The name of the client, or an empty string if the seat is free.
  private var clientName: String { opponent == nil ? "" : summary.peer ?? "" }

  func step(_ match: HostedRollback<Rink>, at now: Instant) {
    let state = match.server.state.state
    let mallet =
      setup.bot ? computer.input(for: state) : display.input(of: .home, in: state, at: now)
    let input = homeRequests.input(
      mallet ?? MalletInput(state[mallet: .home].vector), in: state)
    match.server.setInput(input, for: 0)
    match.advance()
    for event in match.server.events { show(event, match.server.state.state) }
    if let limit = setup.matchLimit, summary.matches >= limit { finishHosting(match) }
  }

  /// Sends the last inputs and the final score to all peers, and ends the game.
  func finishHosting(_ match: HostedRollback<Rink>) {
    for peer in match.peers { sendFinalScore(of: match, to: peer) }
    end("finished", Goodbye(.finished))
  }

  /// Sends the last inputs and the final score to a peer, unless this has already been done.
  /// Returns whether they were sent.
  @discardableResult
  private func sendFinalScore(of match: HostedRollback<Rink>, to peer: Peer) -> Bool {
    guard match.finish(for: peer) else { return false }
    let state = match.server.state.state
    send(.ended(match: state.match, state.score), to: peer)
    return true
  }
}
