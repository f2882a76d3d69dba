import CaromCore

extension RollbackSession {
  // MARK: Disconnected players

  /// Starts disconnecting a player. From now on, the player's inputs are accepted only from other
  /// peers that have received them.
  mutating func beginDisconnect(of player: Int) {
    guard votes[player] == nil else { return }
    var vote = DisconnectVote(peers: peers.count)
    vote.exclude(configuration.local)
    // The disconnected player is notified too, in case it is still running.
    vote.received[player] = true
    votes[player] = vote
    finishDisconnects()
  }

  /// Appends the next disconnect message for `peer`. Returns false if none is due.
  mutating func writeDisconnect(to peer: Int, _ writer: inout PacketWriter) -> Bool {
    for player in votes.indices where votes[player]?.isDue[peer] == true {
      votes[player]?.isDue[peer] = false
      let buffer = rollback.buffers[player]
      let reach = buffer.oldest.distance(to: buffer.end)
      let count = Int(min(reach, Int64(SimulationLimits.ticksInPacket)))
      let first = buffer.end.advanced(by: -Int64(count))
      PlayerDisconnect(
        player: player, isAnswer: votes[player]?.received[peer] == true, first: first, count: count
      ).encode(into: &writer)
      var bits = BitWriter()
      buffer.writeRun(
        from: first, count: count, context: 0, coder: &coder, bits: &bits, into: &writer)
      bits.finish(&writer)
      return true
    }
    return false
  }

  mutating func receiveDisconnect(
    _ bytes: Span<UInt8>, from peer: Int
  ) throws(DecodeError) {
    var reader = PacketReader(bytes)
    let message = try PlayerDisconnect(decoding: &reader)
    let player = message.player
    guard peers.indices.contains(player), player != peer else { throw .invalid(what: "player") }
    // A repetition of a message from before the player's return.
    guard message.first.advanced(by: Int64(message.count)) >= peers[player].base else { return }
    var bits = BitReader()
    try rollback.buffers[player].readRun(
      from: message.first, count: message.count, context: 0, coder: &coder, bits: &bits,
      &reader)
    try bits.finish()
    try reader.finish()
    guard player != configuration.local else {
      isDisconnected = true
      return
    }
    beginDisconnect(of: player)
    if rollback.disconnectTicks[player] == nil {
      rollback.addInputs(coder.run, for: player, from: message.first)
    }
    votes[player]?.received[peer] = true
    if message.isAnswer {
      votes[player]?.delivered[peer] = true
    } else {
      votes[player]?.isDue[peer] = true
    }
    finishDisconnects()
  }

  /// Disconnects each player on whose last input all remaining peers agree. The player counts as
  /// disconnected from the tick after that input.
  private mutating func finishDisconnects() {
    for player in votes.indices where rollback.disconnectTicks[player] == nil {
      guard let vote = votes[player] else { continue }
      let isAgreed = peers.indices.allSatisfy { vote.received[$0] || votes[$0] != nil }
      guard isAgreed else { continue }
      rollback.disconnect(player: player, at: rollback.buffers[player].end)
    }
    acceptReturns()
  }
}
