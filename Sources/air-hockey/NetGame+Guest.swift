import AirHockey
import AirHockeyTerminal
import Carom
import CaromSimulation

// The guest's and the watcher's side: the match runs here too, and is corrected by the host's word.
extension NetGame {
  /// A host that is never in step is not the same game.
  static let desyncLimit = 8

  /// The host granted the seat: play begins with its first word.
  func beginVisiting() {
    summary.role = setup.isWatching ? "watcher" : "client"
    hosted = nil
    (lastWordHeard, endedMatch) = (nil, nil)
    recording?.beginAnother()
    joined = JoinedMatch(isSpectator: setup.isWatching, at: loop.now)
    if let link, let roundTrip = node.assumeIsolated({ $0.statistics(of: link)?.roundTrip }) {
      joined?.note(roundTrip: roundTrip)
    }
    computer = ComputerPlayer(.away, strength: setup.strength, seed: .random(in: 0 ... .max))
    awaitFirstState()
  }

  func stepVisiting(at now: Instant) {
    guard let state = joined?.state else { return }
    let own: MalletInput? =
      if setup.isWatching {
        nil
      } else if setup.bot {
        computer.input(for: state)
      } else { face.input(of: .away, in: state, at: now) }
    joined?.step(own ?? MalletInput(state[mallet: .away].vector), at: now)
    if let correction = joined?.correction { network.noteCorrection(correction) }
    tellDecided()
  }

  private func tellDecided() {
    while let (event, state) = joined?.pollEvent() { tell(event, state) }
  }

  /// Takes a message of the host; `false` for one that breaks the game's protocol.
  func receiveVisiting(_ bytes: [UInt8], on channel: UInt8) -> Bool {
    do throws(DecodeError) {
      switch channel {
      case MessageChannel.inputs.id:
        try joined?.receive(.inputs, bytes.span, at: loop.now)
        network.noteHeard(at: loop.now)
        if joined?.state != nil { startPlaying() }
      case MessageChannel.sync.id:
        try receive(try RollbackPacket(decoding: bytes.span))
      case MessageChannel.words.id:
        guard case .ended(let match, let score) = try TableWord(decoding: bytes.span),
          lastWordHeard == nil
        else { return false }
        hearLastWord(match, score)
      default: return false
      }
      return joined.map { $0.desyncs <= Self.desyncLimit } ?? true
    } catch { return false }
  }

  private func receive(_ packet: RollbackPacket) throws(DecodeError) {
    let isFirst = joined?.state == nil
    let desyncs = joined?.desyncs
    try joined?.receive(packet.message, packet.bytes.span, at: loop.now)
    if joined?.desyncs != desyncs, let desync = joined?.lastDesync {
      face.tell("not in step with the host at \(desync); it sends the match again")
    }
    guard isFirst, let state = joined?.state else { return }
    firstStateCame()
    // A table at which nobody has sat yet has nothing to show.
    guard state.match > 0 || !setup.isWatching else { return }
    if state.score == Score() {
      tell(.matchStarted, state)
    } else {
      face.tell("match \(state.match) stands at \(state.score)")
    }
    startPlaying()
  }

  /// The final score; a match that it ended may not have come as far here.
  private func hearLastWord(_ match: UInt16, _ score: Score) {
    joined?.settle(at: loop.now)
    tellDecided()
    lastWordHeard = (match, score)
    awaitEnd()
    if let winner = Seat.allCases.first(where: { score[$0] == Preset.goalsToWin }) {
      tellWinner(winner, match, score)
    }
    face.tell("final score \(score)")
  }
}
