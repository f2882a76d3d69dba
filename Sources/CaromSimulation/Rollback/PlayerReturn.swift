import CaromCore

/// A message by which player 0 lets a player who was disconnected play again from a tick on, and by
/// which the other peers agree.
///
/// Layout: the player u8; flags u8, bit 0 set if the sender agrees to the receiver's message; the
/// tick u64; the number of ticks by which the sender's clock is past that tick, u8; a bit for each
/// player who is disconnected at that tick, u64.
package struct PlayerReturn: Hashable, Sendable, PacketCodable {
  /// The player who returns.
  package var player: Int
  /// Whether the message agrees to one that the receiver has sent.
  package var isAnswer = false
  /// The first tick at which the player's inputs count again.
  package var tick: Tick
  /// The number of ticks by which the sender's clock is past `tick`, at most 255. The returning
  /// player needs it to start its own clock.
  package var ahead = 0
  /// The players who are disconnected at `tick`: bit n is set for player n.
  package var absent: UInt64 = 0

  package init(player: Int, tick: Tick) {
    self.player = player
    self.tick = tick
  }

  /// Appends the message in the layout documented at `PlayerReturn`.
  package func encode(into writer: inout PacketWriter) {
    writer.append(UInt8(player))
    writer.append(isAnswer ? 1 : 0)
    writer.write(tick.rawValue)
    writer.append(UInt8(ahead))
    writer.write(absent)
  }

  /// Creates a message by decoding it. Throws `DecodeError.invalid` for a player that no match can
  /// have, and for unknown flags.
  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    player = Int(try reader.read(UInt8.self))
    guard player < SimulationLimits.players else { throw .invalid(what: "player") }
    let flags: UInt8 = try reader.read()
    guard flags <= 1 else { throw .invalid(what: "return flags") }
    isAnswer = flags == 1
    tick = Tick(try reader.read(UInt64.self))
    ahead = Int(try reader.read(UInt8.self))
    absent = try reader.read()
  }
}
