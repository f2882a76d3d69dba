import AirHockey
import AirHockeyTerminal
import Carom
import TerminalText

// Connections that open and close.
extension NetGame {
  /// Handles an event of the session node. Must be called on the loop.
  func handle(_ event: SessionEvent) {
    guard !isOver else { return }
    switch event {
    case .requested(let connection, _, _): node.assumeIsolated { $0.admit(connection) }
    case .opened(let connection, let info): didOpen(connection, info)
    case .message(let connection, let channel, let bytes):
      if !receive(bytes, on: channel, from: connection) { rejectProtocol(of: connection) }
    case .measured(let connection, let roundTrip):
      guard connection == connections.opponent, let smoothed = roundTrip.smoothed else { return }
      role.withJoined { $0.updateRoundTrip(smoothed) }
    case .linkChanged(let connection, let kind):
      guard connection == connections.opponent else { return }
      summary.transport = kind.description
      display.write("the connection now uses \(kind)")
    case .wrongCode(let failure): display.write("\(failure)")
    case .interrupted(let connection): didInterrupt(connection)
    case .resumed(let connection): didResume(connection)
    case .closed(let connection, let info, let reason, wasOpen: true):
      didClose(connection, info, reason)
    default: break
    }
  }

  private func didOpen(_ connection: ConnectionID, _ info: PeerInfo) {
    let isHost = node.assumeIsolated { $0.isIncoming(connection) }
    if isHost, info.isSpectator { return addSpectator(connection, info) }
    connections.opponent = connection
    summary.peer = TextWidth.plain(info.name)
    summary.transport = node.assumeIsolated { $0.kind(of: connection) }?.description
    let security = node.assumeIsolated { $0.security(of: connection) }
    summary.cipher = security?.cipher
    summary.fingerprint = security?.fingerprint?.description
    display.write("\(info.name) sits down" + (summary.fingerprint.map { ", key \($0)" } ?? ""))
    seatTaken(info)
    if isHost {
      beginHosting(connection, returning: info.id == connections.lastClient)
      connections.lastClient = info.id
    } else {
      beginJoining()
    }
  }

  private func didClose(_ connection: ConnectionID, _ info: PeerInfo?, _ reason: DisconnectReason) {
    if connection == connections.opponent { return opponentLeft(reason) }
    guard let recipient = connections.recipient(connection) else { return }
    connections.recipients[recipient] = nil
    role.withHosted { $0.removeSpectator(recipient) }
  }

  /// Waits for an opponent who has lost the network. A host pauses the match while it waits.
  private func didInterrupt(_ connection: ConnectionID) {
    guard connection == connections.opponent, let peer = summary.peer else { return }
    connections.isInterrupted = true
    display.write("no connection to \(peer): waiting for its return")
    guard let state = role.hosted?.state, !state.isPaused else { return }
    connections.hasPaused = true
    role.withHosted { $0.request(.pause) }
  }

  private func didResume(_ connection: ConnectionID) {
    guard connection == connections.opponent, let peer = summary.peer else { return }
    connections.isInterrupted = false
    display.write("\(peer) is back")
    endInterruptionPause()
  }

  /// Ends the pause that this host began when it lost the connection to its opponent.
  func endInterruptionPause() {
    guard connections.hasPaused else { return }
    connections.hasPaused = false
    role.withHosted { $0.request(.resume) }
  }

  private func opponentLeft(_ reason: DisconnectReason) {
    connections.opponent = nil
    connections.isInterrupted = false
    if reason == .replaced, case .host = role { return }
    display.write("game ended: \(reason)")
    announcement = summary.peer.map { "\($0) is gone (\(reason))" }
    summary.endReason = "\(reason)"
    isPlaying = false
    timers.ending?.cancel()
    timers.ending = nil
    if let client = role.hosted?.client { connections.recipients[client] = nil }
    role.withHosted { $0.removeClient() }
    tellSpectators()
    guard setup.reopens, setup.tickLimit == nil || hasOnlyKnocked else {
      summary.status = ExitStatus(reason)
      return end("\(reason)", nil)
    }
    if case .client = role { role = .undecided }
    seatFreed()
  }

  /// Whether this side joined a host but never received a state from it, so that nothing was
  /// played.
  private var hasOnlyKnocked: Bool {
    role.joined.map { $0.state == nil && summary.ticks == 0 } ?? false
  }

  /// Closes a connection whose peer violates the game's protocol.
  private func rejectProtocol(of connection: ConnectionID) {
    node.assumeIsolated {
      $0.close(connection, Goodbye(.protocolViolation), as: .protocolViolation)
    }
  }

  /// Starts playing, or resumes playing with another peer.
  func startPlaying() {
    guard !isPlaying, timers.ending == nil else { return }
    isPlaying = true
    armFrame(at: nextTick ?? loop.now)
  }

  /// Closes the connection to the host unless the host sends its first state in time.
  func awaitFirstState() {
    guard let host = connections.opponent else { return }
    let timer = LoopTimer(on: loop, owner: self) { game in
      game.node.assumeIsolated { $0.close(host, Goodbye(.timedOut), as: .timedOut) }
    }
    timer.arm(after: setup.firstStateLimit)
    timers.firstState = timer
  }

  /// Stops playing, and closes the connection after `finalScoreLimit`.
  func closeSoon() {
    isPlaying = false
    let timer = LoopTimer(on: loop, owner: self) { game in
      guard let opponent = game.connections.opponent, game.setup.tickLimit == nil else {
        return game.end("finished", Goodbye(.finished))
      }
      game.node.assumeIsolated { $0.close(opponent, Goodbye(.finished), as: .finished) }
    }
    timer.arm(after: Self.finalScoreLimit)
    timers.ending = timer
  }
}
