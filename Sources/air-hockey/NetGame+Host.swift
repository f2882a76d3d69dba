import AirHockey
import AirHockeyTerminal
import Carom
import CaromSimulation

// The host side: its simulation is authoritative, and it sends the match to all peers.
extension NetGame {
  /// Begins a match at 0-0 with a new client, or continues the match of a `returning` one.
  func beginHosting(_ connection: ConnectionID, returning: Bool) {
    summary.role = "host"
    becomeHost()
    let now = loop.now
    if let client = role.hosted?.client { connections.recipients[client] = nil }
    guard let recipient = role.withHosted({ $0.addClient(returning: returning, at: now) }),
      let state = role.hosted?.state
    else { return }
    connections.recipients[recipient] = connection
    endInterruptionPause()
    tellSpectators()
    record()
    computer = ComputerPlayer(.home, strength: setup.strength, seed: .random(in: 0 ... .max))
    if !returning { show(.matchStarted, state) }
    sendMatch()
    startPlaying()
  }

  /// Adds a spectator to the match.
  func addSpectator(_ connection: ConnectionID, _ info: PeerInfo) {
    becomeHost()
    guard let recipient = role.withHosted({ $0.addSpectator() }) else { return }
    connections.recipients[recipient] = connection
    display.write("\(info.name) watches")
    send(.playing(against: clientName), on: .notices, to: connection)
    sendMatch()
  }

  /// Sends the name of the client to all spectators.
  func tellSpectators() {
    let notice = MatchNotice.playing(against: clientName)
    for connection in connections.recipients.values where connection != connections.opponent {
      send(notice, on: .notices, to: connection)
    }
  }

  /// The name of the client, or an empty string if the seat is free.
  private var clientName: String { connections.opponent == nil ? "" : summary.peer ?? "" }

  private func becomeHost() {
    if case .host = role { return }
    recording?.beginNextFile()
    role = .host(HostedMatch(at: loop.now))
  }

  func stepHosted(at now: Instant) {
    guard let state = role.hosted?.state else { return }
    let input =
      setup.bot ? computer.input(for: state) : display.input(of: .home, in: state, at: now)
    let mallet = input ?? MalletInput(state[mallet: .home].vector)
    guard let events = role.withHosted({ $0.step(home: mallet) }), let after = role.hosted?.state
    else { return }
    for event in events { show(event, after) }
    if let limit = setup.matchLimit, summary.matches >= limit { finishHosting() }
  }

  /// Sends the last inputs and the final score to all peers, and ends the session.
  func finishHosting() {
    for connection in connections.recipients.values { sendFinalScore(to: connection) }
    end("finished", Goodbye(.finished))
  }

  /// Sends the last inputs on a reliable channel, since no later packet would repeat them if they
  /// were lost, and then the final score.
  private func sendFinalScore(to connection: ConnectionID) {
    guard let recipient = connections.recipient(connection) else { return }
    if let bytes = role.withHosted({ $0.unacknowledgedInputs(for: recipient) }) ?? nil {
      send(RollbackPacket(.inputs, bytes), on: RollbackChannels.match.control, to: connection)
    }
    if let hosted = role.hosted { send(hosted.finalNotice, on: .notices, to: connection) }
  }

  /// Sends the final score to a client that has played until its time limit, and closes its
  /// connection.
  private func dismissClient(_ connection: ConnectionID) {
    sendFinalScore(to: connection)
    node.assumeIsolated { $0.close(connection, Goodbye(.finished), as: .finished) }
  }

  /// Handles a message from a client or spectator. Returns false if the message violates the game's
  /// protocol.
  func receiveFromClient(
    _ bytes: [UInt8], on channel: UInt8, from connection: ConnectionID
  ) -> Bool {
    guard let recipient = connections.recipient(connection) else { return true }
    let now = loop.now
    do throws(DecodeError) {
      guard let packet = try RollbackChannels.match.packet(on: channel, bytes.span) else {
        guard channel == MessageChannel.notices.id,
          try MatchNotice(decoding: bytes.span) == .finish, connection == connections.opponent
        else { return false }
        dismissClient(connection)
        return true
      }
      let isInputs = channel == RollbackChannels.match.inputs.id
      guard isInputs || packet.message != .inputs else { return false }
      // The reply is sent with the next tick, so that several requests cause one reply.
      try role.withHosted { (match) throws(DecodeError) in
        try match.receive(packet.message, packet.bytes.span, from: recipient, at: now)
      }
      if isInputs, connection == connections.opponent { meters.network.recordInputs(at: now) }
      return true
    } catch { return false }
  }
}
