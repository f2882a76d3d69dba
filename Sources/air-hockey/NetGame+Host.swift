import AirHockey
import AirHockeyTerminal
import Carom
import CaromSimulation

// The host side: its simulation is authoritative, and all peers receive the match.
extension NetGame {
  /// Opens the match to the peers of the session: a new one, or one that another host has played up
  /// to a checkpoint. It is paused until a client takes a seat.
  func becomeHost(from checkpoint: RollbackCheckpoint<Rink>? = nil) {
    guard let session else { return }
    if case .host = role { return }
    summary.role = setup.clients == 2 ? "table" : "host"
    (finalScore, lastWonMatch, lastClient, desyncs) = (nil, nil, nil, 0)
    recording?.beginNextFile()
    var server =
      checkpoint.map { RollbackServer(resuming: $0, at: loop.now) }
      ?? RollbackServer(Rink(match: 0), players: 2, rate: Preset.ticksPerSecond, at: loop.now)
    server.inputFilter = { _, input in ClientSeats.permitted(input) }
    let players = setup.clients == 2 ? [0, 1] : [1]
    let match =
      if let matches, let table = setup.table {
        HostedRollback(
          server, of: matches, number: table - 1, channels: .match, remotePlayers: players)
      } else {
        HostedRollback(
          server, over: session, channels: .match, remotePlayers: players,
          lastPeers: checkpoint?.peers)
      }
    if let peers = checkpoint?.peers { clientSeats.expect(SeatValues(peers[0], peers[1])) }
    match.isPaused = true
    role = .host(match)
  }

  func receive(_ match: HostedRollback<Rink>, over session: Session, at now: Instant) {
    match.receive(at: now)
    while !isOver, let notice = match.pollNotice() { handle(notice, of: match) }
    for notice in takeNotices(over: session) where !isOver {
      // Only a client may end its game.
      guard notice.message == .finish, match.player(of: notice.peer) != nil else {
        reject(notice.peer)
        continue
      }
      if sendFinalScore(of: match, to: notice.peer) {
        notice.peer.disconnect(Goodbye(.finished), as: .finished)
      }
    }
  }

  /// Removes and returns the game's own messages that the peers of this table have sent.
  private func takeNotices(over session: Session) -> [Received<MatchNotice>] {
    guard let matches, let table = setup.table else { return session.takeMessages(on: .notices) }
    return matches.takeMessages(on: .notices, of: table - 1)
  }

  private func handle(_ notice: HostedRollback<Rink>.Notice, of match: HostedRollback<Rink>) {
    if setup.clients == 2 { return handleClient(notice, of: match) }
    switch notice {
    case .joined(let peer, player: nil):
      display.write("\(peer.name) watches")
      send(playing, to: peer)
    case .joined(let peer, player: _?): begin(match, with: peer)
    case .left(_, player: _?, .replaced): (opponent, isInterrupted) = (nil, false)
    case .left(_, player: _?, let reason):
      match.isPaused = true
      opponentLeft(reason)
      sendNames(to: match.peers)
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
    sendNames(to: match.peers)
    computer = ComputerPlayer(.home, strength: setup.strength, seed: .random(in: 0 ... .max))
    match.isPaused = false
    isPlaying = true
  }

  /// Tells peers who plays.
  func sendNames(to peers: [Peer]) { for peer in peers { send(playing, to: peer) } }

  /// The notice that says who plays.
  var playing: MatchNotice {
    if setup.clients == 2 { return .playing(home: names.home ?? "", away: names.away ?? "") }
    return .playing(home: setup.name, away: opponent == nil ? "" : summary.peer ?? "")
  }

  func step(_ match: HostedRollback<Rink>, at now: Instant) {
    if setup.clients == 2 { setClientInputs(of: match) } else { setInput(of: match, at: now) }
    match.advance()
    saveCheckpoint(of: match)
    for event in match.server.events { show(event, match.server.state.state) }
    if let limit = setup.gameLimit, summary.games >= limit { finishHosting(match) }
  }

  private func setInput(of match: HostedRollback<Rink>, at now: Instant) {
    let state = match.server.state.state
    let mallet =
      setup.bot ? computer.input(for: state) : display.input(of: .home, in: state, at: now)
    let input = homeRequests.input(
      mallet ?? MalletInput(state[mallet: .home].vector), in: state)
    match.server.setInput(input, for: 0)
  }

  /// Sends the last inputs and the final score to all peers, and ends the game.
  func finishHosting(_ match: HostedRollback<Rink>, _ reason: String = "finished") {
    for peer in match.peers { sendFinalScore(of: match, to: peer) }
    end(reason, Goodbye(.finished))
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
