import CaromCore

// Players who come back. Player 0 chooses a tick after its own newest input, and tells the other
// peers. It sends a peer its inputs of that tick and later only once the peer has agreed. No peer
// can therefore confirm the tick before it knows that the returning player's inputs count again.
extension RollbackSession {
  /// The number of ticks between player 0's newest input and the tick at which a player returns. If
  /// all peers agree within that time, nobody waits for player 0's inputs.
  static var returnMargin: Int64 { 30 }
  /// The maximum number of ticks by which the tick of a return may be ahead of the local tick.
  static var returnReach: Int64 { 1_024 }

  /// Lets a player who was disconnected play again, and returns the tick from which its inputs
  /// count. Returns nil while the peers have not agreed on the last input of each disconnected
  /// player, or on an earlier return; then try again later. Only player 0 may call this method.
  ///
  /// Once the tick is confirmed, send the player its state and `returnMessage(of:at:)`. The player
  /// begins a session of its own with them.
  package mutating func reconnect(player: Int) -> Tick? {
    precondition(configuration.local == 0 && player > 0, "player 0 lets the others return")
    let isSettled = peers.indices.allSatisfy { peer in
      votes[peer] == nil
        ? peers[peer].proposal == nil : rollback.disconnectTicks[peer] != nil
    }
    guard isSettled, votes[player] != nil else { return nil }
    let tick = rollback.buffers[0].end.advanced(by: Self.returnMargin)
    let proposal = PlayerReturn(player: player, tick: tick)
    for peer in peers.indices where isPeer(peer) {
      peers[peer].proposal = proposal
      peers[peer].returnDue = proposal
    }
    restore(player, at: tick)
    return tick
  }

  /// Returns the message with which a returning player begins its session, together with the state
  /// before `tick`.
  package func returnMessage(of player: Int, at tick: Tick) -> PlayerReturn {
    var message = PlayerReturn(player: player, tick: tick)
    message.ahead = Int(min(max(tick.distance(to: rollback.tick), 0), 255))
    for other in peers.indices where rollback.disconnectTicks[other] != nil {
      message.absent |= 1 << UInt64(other)
    }
    return message
  }

  /// Creates the session of a player who returns, with the state before the message's tick, at
  /// which `configuration` starts.
  package init(
    _ game: Game, _ configuration: RollbackConfiguration, returning message: PlayerReturn,
    at now: Instant
  ) {
    self.init(game, configuration, at: now)
    for player in peers.indices where message.absent >> UInt64(player) & 1 == 1 {
      guard player != configuration.local else { continue }
      votes[player] = DisconnectVote(finishedWith: peers.count)
      rollback.disconnect(player: player, at: configuration.start)
    }
  }

  mutating func receiveReturn(_ message: PlayerReturn, from peer: Int) throws(DecodeError) {
    let player = message.player
    guard peers.indices.contains(player), player != peer, player != configuration.local else {
      throw .invalid(what: "player")
    }
    if message.isAnswer {
      if let proposal = peers[peer].proposal, proposal.player == player,
        proposal.tick == message.tick
      {
        peers[peer].proposal = nil
      }
      return
    }
    guard peer == 0 else { throw .invalid(what: "return") }
    guard message.tick >= rollback.confirmedTick,
      rollback.tick.distance(to: message.tick) <= Self.returnReach
    else { throw .invalid(what: "return's tick") }
    awaitedReturns[player] = message
    acceptReturns()
  }

  /// Accepts the returns of the players on whose last inputs this peer has agreed.
  mutating func acceptReturns() {
    for player in awaitedReturns.indices where rollback.disconnectTicks[player] != nil {
      guard var message = awaitedReturns[player] else { continue }
      awaitedReturns[player] = nil
      restore(player, at: message.tick)
      message.isAnswer = true
      peers[0].returnDue = message
    }
  }

  private mutating func restore(_ player: Int, at tick: Tick) {
    rollback.reconnect(player: player, at: tick)
    votes[player] = nil
    peers[player] = RollbackPeer(from: tick)
  }
}
