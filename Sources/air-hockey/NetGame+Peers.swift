import AirHockey
import AirHockeyTerminal
import Carom
import CaromSimulation
import TerminalText

// Peers that join and leave, and what host and client have in common.
extension NetGame {
  /// How long a client that has reached its time limit waits for the host's final score.
  static let finalScoreLimit = Duration.seconds(1)

  /// Handles the events and messages that have arrived.
  func receive(at now: Instant) {
    guard player?.departure == nil else { return }
    // The events of a session with several tables belong to the hall.
    while !isOver, matches == nil, let event = session?.poll() {
      // A match whose opponent has left ends before the next one begins.
      if case .left = event { receiveMatch(at: now) }
      if !isOver { handle(event) }
    }
    if !isOver { receiveMatch(at: now) }
  }

  private func receiveMatch(at now: Instant) {
    guard let session else { return }
    switch role {
    case .undecided: break
    case .host(let match): receive(match, over: session, at: now)
    case .client(let match): receive(match, over: session, at: now)
    }
  }

  private func handle(_ event: PeerEvent) {
    switch event {
    case .joined(let peer):
      // A fleet says when the match of a table begins.
      if peer.isHost { beginJoining(peer) } else if fleet == nil, hall == nil { becomeHost() }
    case .linkChanged(let peer, let kind) where peer == opponent:
      summary.transport = kind.description
      display.write("the connection now uses \(kind)")
    case .wrongCode(let failure): display.write("\(failure)")
    default: break
    }
  }

  /// Simulates a tick, if one is due. Returns whether one was due.
  func step(at now: Instant) -> Bool {
    switch role {
    case .host(let match) where match.isTickDue: step(match, at: now)
    case .client(let match) where match.isTickDue: step(match, at: now)
    default: return false
    }
    return true
  }

  func carryOut(_ command: Controls.Command) {
    let state: RinkState? =
      switch role {
      case .undecided: nil
      case .host(let match): match.server.state.state
      case .client(let match): match.state?.state
      }
    guard setup.isPlayer, let state else { return }
    let hasPaused = state.pauses.contains(.of(seat))
    switch command {
    case .pause: request(hasPaused ? .resume : .pause)
    case .proceed: request(hasPaused ? .resume : .startMatch)
    case .quit, .back, .forth: break
    }
  }

  private func request(_ request: RinkInput.Request) {
    if case .host = role { homeRequests.add(request) } else { requests.append(request) }
  }

  /// Plays until the time limit is reached.
  func timeIsUp() {
    switch role {
    case .client(let match) where !setup.isSpectator:
      send(.finish, to: match.host)
      leaveSoon()
    case .host(let match): finishHosting(match)
    default: end("finished", Goodbye(.finished))
    }
  }

  // MARK: The opponent

  /// Welcomes the other player, or the host if this side is a spectator.
  func opponentJoined(_ peer: Peer) {
    opponent = peer
    summary.peer = TextWidth.plain(peer.name)
    let link = session?.node.assumeIsolated {
      (kind: $0.kind(of: peer.connectionID), security: $0.security(of: peer.connectionID))
    }
    summary.transport = link?.kind?.description
    summary.cipher = link?.security?.protection.encryption?.rawValue
    summary.fingerprint = link?.security?.fingerprint?.description
    display.write("\(peer.name) sits down" + (summary.fingerprint.map { ", key \($0)" } ?? ""))
    // The seat of a computer player can be had.
    seatsChanged(peer.info.yieldsSeat ? 1 : 0)
  }

  /// Waits for an opponent who has lost the network. A host pauses the match while it waits.
  func opponentInterrupted() {
    guard let peer = opponent?.name else { return }
    isInterrupted = true
    display.write("no connection to \(peer): waiting for its return")
    guard case .host(let match) = role, !match.server.state.state.isPaused else { return }
    hasPaused = true
    request(.pause)
  }

  func opponentResumed() {
    guard let peer = opponent?.name else { return }
    isInterrupted = false
    display.write("\(peer) is back")
    endInterruptionPause()
  }

  /// Ends the pause that this host began when it lost the connection to its opponent.
  func endInterruptionPause() {
    if hasPaused { request(.resume) }
    hasPaused = false
  }

  func opponentLeft(_ reason: DisconnectReason) {
    opponent = nil
    isInterrupted = false
    if departs(because: reason) { return }
    display.write("match ended: \(reason)")
    announcement = summary.peer.map { "\($0) is gone (\(reason))" }
    summary.endReason = "\(reason)"
    isPlaying = false
    timers.ending = nil
    guard setup.reopens, setup.tickLimit == nil || hasOnlyKnocked else {
      summary.status = ExitStatus(reason)
      return end("\(reason)")
    }
    if case .client = role { role = .undecided }
    seatsChanged(1)
  }

  /// Whether this side joined a host but never received a state from it, so that nothing was
  /// played.
  private var hasOnlyKnocked: Bool {
    guard case .client(let match) = role else { return false }
    return match.state == nil && summary.ticks == 0
  }

  /// Stops playing, and leaves the host after `finalScoreLimit`, unless the host leaves first.
  func leaveSoon() {
    isPlaying = false
    let timer = LoopTimer(on: loop, owner: self) { game in
      guard game.setup.tickLimit == nil else {
        game.showFinalScore()
        return game.end("finished", Goodbye(.finished))
      }
      game.opponent?.disconnect(Goodbye(.finished), as: .finished)
    }
    timer.arm(after: Self.finalScoreLimit)
    timers.ending = timer
  }

  // MARK: Notices

  /// Sends a notice. Disconnects the peer if the notice cannot be queued.
  func send(_ notice: MatchNotice, to peer: Peer) {
    if !peer.post(notice, on: .notices) { peer.disconnect(Goodbye(.timedOut), as: .timedOut) }
  }

  /// Disconnects a peer that violates the game's protocol.
  func reject(_ peer: Peer) {
    peer.disconnect(Goodbye(.protocolViolation), as: .protocolViolation)
  }
}
