import AirHockey
import AirHockeyTerminal
import Carom
import CaromSimulation

// The host's side: it decides, and tells everybody.
extension NetGame {
  /// A guest sat down: the match begins at 0-0, or goes on where the same guest left it.
  func beginHosting(_ link: ConnectionID, again: Bool) {
    summary.role = "host"
    joined = nil
    makeTable()
    if let guest = hosted?.guest { watchers[guest] = nil }
    guard let number = hosted?.seatGuest(same: again, at: loop.now), let state = hosted?.state
    else { return }
    watchers[number] = link
    record()
    computer = ComputerPlayer(.home, strength: setup.strength, seed: .random(in: 0 ... .max))
    if !again { tell(.matchStarted, state) }
    sendMatch()
    startPlaying()
  }

  /// Somebody came to watch.
  func beginTelling(_ link: ConnectionID, _ info: PeerInfo) {
    makeTable()
    guard let number = hosted?.addSpectator() else { return }
    watchers[number] = link
    face.tell("\(info.name) watches")
    sendMatch()
  }

  /// Under which number a host tells somebody.
  func number(of link: ConnectionID) -> Int? { watchers.first { $0.value == link }?.key }

  private func makeTable() {
    guard hosted == nil else { return }
    recording?.beginAnother()
    hosted = HostedMatch(at: loop.now)
  }

  func stepHosted(at now: Instant) {
    guard let state = hosted?.state else { return }
    let own = setup.bot ? computer.input(for: state) : face.input(of: .home, in: state, at: now)
    let mallet = own ?? MalletInput(state[mallet: .home].vector)
    guard let events = hosted?.step(home: mallet), let after = hosted?.state else { return }
    for event in events { tell(event, after) }
    if let limit = setup.matchLimit, summary.matches >= limit { finishHosting() }
  }

  /// The last word to everybody: what is decided, the final score, then goodbye.
  func finishHosting() {
    for link in watchers.values { sayLastWord(to: link) }
    end("finished", Goodbye(.finished))
  }

  /// Inputs may get lost; the last ones may not.
  private func sayLastWord(to link: ConnectionID) {
    guard let number = number(of: link) else { return }
    if let bytes = hosted?.lastInputs(for: number) {
      send(RollbackPacket(.inputs, bytes), on: .sync, to: link)
    }
    if let hosted { send(hosted.ending, on: .words, to: link) }
  }

  /// The guest's time is up: its last word. A table without a time of its own opens again.
  private func dismissGuest(_ link: ConnectionID) {
    sayLastWord(to: link)
    node.assumeIsolated { $0.close(link, Goodbye(.finished), as: .finished) }
  }

  /// Takes a message of a guest or a watcher; `false` for one that breaks the game's protocol.
  func receiveHosting(_ bytes: [UInt8], on channel: UInt8, from link: ConnectionID) -> Bool {
    guard let number = number(of: link) else { return true }
    do throws(DecodeError) {
      switch channel {
      case MessageChannel.inputs.id:
        try hosted?.receive(.inputs, bytes.span, from: number, at: loop.now)
        if link == self.link { network.noteHeard(at: loop.now) }
      case MessageChannel.sync.id:
        let packet = try RollbackPacket(decoding: bytes.span)
        guard packet.message != .inputs else { return false }
        // The answer leaves with the next tick: many questions are answered once.
        try hosted?.receive(packet.message, packet.bytes.span, from: number, at: loop.now)
      case MessageChannel.words.id:
        guard try TableWord(decoding: bytes.span) == .finish, link == self.link else {
          return false
        }
        dismissGuest(link)
      default: return false
      }
      return true
    } catch { return false }
  }
}
