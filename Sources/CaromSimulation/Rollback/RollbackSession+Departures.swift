import CaromCore

extension RollbackSession {
  // MARK: Players who are gone

  /// From now on nothing of the player counts but what the peers have of it already.
  mutating func beginFarewell(to player: Int) {
    guard farewells[player] == nil else { return }
    var farewell = DisconnectVote(peers: peers.count)
    farewell.settle(configuration.local)
    farewell.heard[player] = true  // it is told as well, in case that it is not gone
    farewells[player] = farewell
    finishFarewells()
  }

  /// Appends the next message of somebody who is gone to `peer`; false where there is none.
  mutating func writeFarewell(to peer: Int, _ writer: inout PacketWriter) -> Bool {
    for player in farewells.indices where farewells[player]?.isDue[peer] == true {
      farewells[player]?.isDue[peer] = false
      let buffer = rollback.buffers[player]
      let reach = buffer.oldest.distance(to: buffer.end)
      let count = Int(min(reach, Int64(SimulationLimits.ticksInPacket)))
      let first = buffer.end.advanced(by: -Int64(count))
      PlayerDisconnect(
        player: player, isAnswer: farewells[player]?.heard[peer] == true, first: first, count: count
      ).encode(into: &writer)
      var bits = InputBitWriter()
      buffer.writeRun(
        from: first, count: count, context: 0, coder: &coder, bits: &bits, into: &writer)
      bits.finish(&writer)
      return true
    }
    return false
  }

  mutating func receiveDeparture(
    _ bytes: Span<UInt8>, from peer: Int
  ) throws(DecodeError) {
    var reader = PacketReader(bytes)
    let departure = try PlayerDisconnect(decoding: &reader)
    let player = departure.player
    guard peers.indices.contains(player), player != peer else { throw .invalid(what: "player") }
    guard player != configuration.local else {
      isDropped = true
      return
    }
    var bits = InputBitReader()
    try rollback.buffers[player].readRun(
      from: departure.first, count: departure.count, context: 0, coder: &coder, bits: &bits,
      &reader)
    try bits.finish()
    try reader.finish()
    beginFarewell(to: player)
    if rollback.absence[player] == nil {
      rollback.take(coder.run, of: player, from: departure.first)
    }
    farewells[player]?.heard[peer] = true
    if departure.isAnswer {
      farewells[player]?.told[peer] = true
    } else {
      farewells[player]?.isDue[peer] = true
    }
    finishFarewells()
  }

  /// Who was told of by everybody that is left is gone from the tick after its last input.
  private mutating func finishFarewells() {
    for player in farewells.indices where rollback.absence[player] == nil {
      guard let farewell = farewells[player] else { continue }
      let isAgreed = peers.indices.allSatisfy { farewell.heard[$0] || farewells[$0] != nil }
      guard isAgreed else { continue }
      rollback.remove(player, at: rollback.buffers[player].end)
    }
  }
}
