import AirHockey
import AirHockeyTerminal
import Carom
import CaromSimulation
import TerminalText

// The client and spectator side: it simulates the match and is corrected by the host.
extension NetGame {
  /// The number of desyncs after which the host is assumed to run another version of the game.
  static let desyncLimit = 8

  /// Joins the host that has admitted this player. Play begins with the host's first state.
  func beginJoining() {
    summary.role = setup.isSpectator ? "watcher" : "client"
    (finalScore, lastWonMatch) = (nil, nil)
    recording?.beginNextFile()
    var match = JoinedMatch(isSpectator: setup.isSpectator, at: loop.now)
    if let host = connections.opponent,
      let roundTrip = node.assumeIsolated({ $0.statistics(of: host)?.roundTrip })
    {
      match.updateRoundTrip(roundTrip)
    }
    role = .client(match)
    computer = ComputerPlayer(.away, strength: setup.strength, seed: .random(in: 0 ... .max))
    awaitFirstState()
  }

  func stepJoined(at now: Instant) {
    guard let state = role.joined?.state else { return }
    let input = localInput(in: state, at: now) ?? MalletInput(state[mallet: .away].vector)
    let correction = role.withJoined { match in
      match.step(input, at: now)
      return match.correction
    }
    if let correction { meters.network.recordCorrection(correction) }
    displayConfirmedEvents()
  }

  private func localInput(in state: RinkState, at now: Instant) -> MalletInput? {
    if setup.isSpectator { return nil }
    if setup.bot { return computer.input(for: state) }
    return display.input(of: .away, in: state, at: now)
  }

  private func displayConfirmedEvents() {
    while let (event, state) = role.withJoined({ $0.pollEvent() }) ?? nil {
      show(event, state)
    }
  }

  /// Handles a message from the host. Returns false if the message violates the game's protocol.
  func receiveFromHost(_ bytes: [UInt8], on channel: UInt8) -> Bool {
    let now = loop.now
    do throws(DecodeError) {
      if let packet = try RollbackChannels.match.packet(on: channel, bytes.span) {
        try receive(packet)
        if channel == RollbackChannels.match.inputs.id {
          meters.network.recordInputs(at: now)
          if role.joined?.state != nil { startPlaying() }
        }
      } else {
        guard channel == MessageChannel.notices.id else { return false }
        return receive(try MatchNotice(decoding: bytes.span))
      }
      return role.joined.map { $0.desyncs <= Self.desyncLimit } ?? true
    } catch { return false }
  }

  private func receive(_ notice: MatchNotice) -> Bool {
    switch notice {
    case .playing(let client):
      guard setup.isSpectator else { return false }
      summary.watchedClient = client.isEmpty ? nil : TextWidth.plain(client)
      if let host = summary.peer, let client = summary.watchedClient {
        display.write("\(host) plays against \(client)")
      }
      return true
    case .ended(let match, let score):
      guard finalScore == nil else { return false }
      receiveFinalScore(match, score)
      return true
    case .finish: return false
    }
  }

  private func receive(_ packet: RollbackPacket) throws(DecodeError) {
    let now = loop.now
    let isFirst = role.joined?.state == nil
    let desyncs = role.joined?.desyncs
    try role.withJoined { (match) throws(DecodeError) in
      try match.receive(packet.message, packet.bytes.span, at: now)
    }
    if role.joined?.desyncs != desyncs, let desync = role.joined?.lastDesync {
      display.write("out of sync with the host at \(desync); it sends the match again")
    }
    guard isFirst, let state = role.joined?.state else { return }
    timers.firstState?.cancel()
    // Match 0 is a table at which no client has played yet; a spectator has nothing to see.
    guard state.match > 0 || !setup.isSpectator else { return }
    if state.score == Score() {
      show(.matchStarted, state)
    } else {
      display.write("match \(state.match) stands at \(state.score)")
    }
    startPlaying()
  }

  /// Stores the final score that the host sent. The inputs that led to this score may not have
  /// arrived yet.
  private func receiveFinalScore(_ match: UInt16, _ score: Score) {
    let now = loop.now
    role.withJoined { $0.stepToConfirmed(at: now) }
    displayConfirmedEvents()
    finalScore = (match, score)
    closeSoon()
    if let winner = Seat.allCases.first(where: { score[$0] == Preset.goalsToWin }) {
      showWinner(winner, match, score)
    }
    display.write("final score \(score)")
  }
}
