import AirHockey
import AirHockeyTerminal
import Carom
import CaromSimulation

// What both sides share.
extension NetGame {
  func step(at now: Instant) {
    if hosted != nil { stepHosted(at: now) } else { stepVisiting(at: now) }
  }

  /// Takes a message of a peer; `false` for one that breaks the game's protocol.
  func receive(_ bytes: [UInt8], on channel: UInt8, from link: ConnectionID) -> Bool {
    if hosted != nil { return receiveHosting(bytes, on: channel, from: link) }
    guard link == self.link else { return true }
    return receiveVisiting(bytes, on: channel)
  }

  func carryOut(_ command: Controls.Command) {
    let seat = hosted == nil ? Seat.away : .home
    guard !setup.isWatching, let state = hosted?.state ?? joined?.state else { return }
    let holds = state.pauses.contains(.of(seat))
    let request: RinkInput.Request
    switch command {
    case .pause: request = holds ? .resume : .pause
    case .proceed: request = holds ? .resume : .startMatch
    case .quit, .back, .forth: return
    }
    hosted?.ask(request)
    joined?.ask(request)
  }

  // MARK: Sending

  /// Sends what the match has to say.
  func sendMatch() {
    while let message = hosted?.pollMessage() {
      guard let link = watchers[message.watcher] else { continue }
      send(message.kind, message.bytes, to: link)
    }
    while let link, let (kind, bytes) = joined?.pollMessage() { send(kind, bytes, to: link) }
  }

  private func send(_ kind: RollbackMessage, _ bytes: [UInt8], to link: ConnectionID) {
    if kind == .inputs {
      send(InputRuns(bytes), on: .inputs, to: link)
    } else {
      send(RollbackPacket(kind, bytes), on: .sync, to: link)
    }
  }

  /// A message that finds the peer's queue full is not sent: its connection is about to end.
  func send<Message>(_ message: Message, on channel: MessageChannel<Message>, to link: ConnectionID)
  {
    node.assumeIsolated { node in
      do throws(SendError) {
        try node.send(message, on: channel, to: link)
      } catch {
        node.close(link, Goodbye(.timedOut), as: .timedOut)
      }
    }
  }

  // MARK: Telling

  func tell(_ event: RinkEvent, _ state: RinkState) {
    switch event {
    case .matchStarted: face.tell("match \(state.match) begins")
    case .goal(let scorer): face.tell("goal for \(name(scorer)): \(state.score)")
    case .paused(let owner): face.tell("\(name(owner)) holds the match")
    case .resumed(let owner): face.tell("\(name(owner)) goes on")
    case .won(let winner): tellWinner(winner, state.match, state.score)
    case .touch, .foul, .serve, .faceOff: break
    }
  }

  /// Tells who won a match, once.
  func tellWinner(_ winner: Seat, _ match: UInt16, _ score: Score) {
    guard endedMatch != match else { return }
    endedMatch = match
    summary.matches += 1
    face.tell("\(name(winner)) wins the match \(score)")
  }

  private func name(_ seat: Seat) -> String {
    let peer = summary.peer ?? "the other player"
    if setup.isWatching { return seat == .home ? peer : "the guest" }
    return seat == (hosted == nil ? .away : .home) ? setup.name : peer
  }

  // MARK: Recording

  /// Writes what is decided by now.
  func record() {
    guard recording != nil else { return }
    if let hosted { recording?.record(hosted) } else if let joined { recording?.record(joined) }
    if let line = recording?.takeTrouble() {
      summary.recordingTrouble = line
      face.tell(line)
    }
  }
}
