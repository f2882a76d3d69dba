import AirHockey
import AirHockeyTerminal
import Carom
import CaromSimulation

// The parts that the host and the client have in common.
extension NetGame {
  func step(at now: Instant) {
    if case .host = role { stepHosted(at: now) } else { stepJoined(at: now) }
  }

  /// Handles a message from a peer. Returns false if the message violates the game's protocol.
  func receive(_ bytes: [UInt8], on channel: UInt8, from connection: ConnectionID) -> Bool {
    if case .host = role { return receiveFromClient(bytes, on: channel, from: connection) }
    guard connection == connections.opponent else { return true }
    return receiveFromHost(bytes, on: channel)
  }

  func carryOut(_ command: Controls.Command) {
    guard !setup.isSpectator, let state = role.hosted?.state ?? role.joined?.state else { return }
    let hasPaused = state.pauses.contains(.of(seat))
    let request: RinkInput.Request
    switch command {
    case .pause: request = hasPaused ? .resume : .pause
    case .proceed: request = hasPaused ? .resume : .startMatch
    case .quit, .back, .forth: return
    }
    role.withHosted { $0.request(request) }
    role.withJoined { $0.request(request) }
  }

  /// The seat of the player at this computer.
  private var seat: Seat { if case .host = role { .home } else { .away } }

  // MARK: Sending

  /// Sends the pending messages of the match.
  func sendMatch() {
    while let message = role.withHosted({ $0.pollMessage() }) ?? nil {
      guard let connection = connections.recipients[message.recipient] else { continue }
      send(message.kind, message.bytes, to: connection)
    }
    while let host = connections.opponent,
      let (kind, bytes) = role.withJoined({ $0.pollMessage() }) ?? nil
    {
      send(kind, bytes, to: host)
    }
  }

  private func send(_ kind: RollbackMessage, _ bytes: [UInt8], to connection: ConnectionID) {
    let channels = RollbackChannels.match
    if kind == .inputs {
      send(EncodedMessage(bytes), on: channels.inputs, to: connection)
    } else {
      send(RollbackPacket(kind, bytes), on: channels.control, to: connection)
    }
  }

  /// Sends a message. If the connection's send queue is full, closes the connection instead, with
  /// the reason `timedOut`.
  func send<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to connection: ConnectionID
  ) {
    node.assumeIsolated { node in
      do throws(SendError) {
        try node.send(message, on: channel, to: connection)
      } catch {
        node.close(connection, Goodbye(.timedOut), as: .timedOut)
      }
    }
  }

  // MARK: Progress

  /// Displays an event of the match as a line of text.
  func show(_ event: RinkEvent, _ state: RinkState) {
    switch event {
    case .matchStarted: display.write("match \(state.match) begins")
    case .goal(let scorer): display.write("goal for \(name(scorer)): \(state.score)")
    case .paused(let owner): display.write("\(name(owner)) pauses the match")
    case .resumed(let owner): display.write("\(name(owner)) resumes")
    case .won(let winner): showWinner(winner, state.match, state.score)
    case .touch, .foul, .serve, .faceOff: break
    }
  }

  /// Displays the winner of a match and counts the match, unless this has already been done.
  func showWinner(_ winner: Seat, _ match: UInt16, _ score: Score) {
    guard lastWonMatch != match else { return }
    lastWonMatch = match
    summary.matches += 1
    display.write("\(name(winner)) wins the match \(score)")
  }

  private func name(_ seat: Seat) -> String {
    let peer = summary.peer ?? "the other player"
    if setup.isSpectator { return seat == .home ? peer : summary.watchedClient ?? "the opponent" }
    return seat == self.seat ? setup.name : peer
  }

  // MARK: Recording

  /// Records the ticks that have been confirmed since the previous call.
  func record() {
    guard recording != nil else { return }
    switch role {
    case .undecided: break
    case .host(let match): recording?.record(match)
    case .client(let match): recording?.record(match)
    }
    if let line = recording?.takeTrouble() {
      summary.recordingTrouble = line
      display.write(line)
    }
  }
}
