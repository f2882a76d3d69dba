import CaromCore

/// A whole state with its tick: what somebody begins with who was not there, or lost the way.
///
/// Layout: tick u64, the count of players u8, the state's hash u64, then the state as its own
/// `PacketCodable` has it, to the end.
public struct RollbackKeyframe<Game: Simulation & PacketCodable>: Sendable, PacketCodable {
  /// How many steps led to the state.
  public var tick: Tick
  /// How many players there are.
  public var players: Int
  /// The state before the step of `tick`.
  public var game: Game

  /// The keyframe of a state.
  public init(tick: Tick, players: Int, game: Game) {
    self.tick = tick
    self.players = players
    self.game = game
  }

  /// Appends the layout above.
  public func encode(into writer: inout PacketWriter) {
    writer.write(tick.rawValue)
    writer.append(UInt8(players))
    writer.write(game.hash)
    game.encode(into: &writer)
  }

  /// Reads the layout above; a state with another hash is `invalid`.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    tick = Tick(try reader.read(UInt64.self))
    guard tick.rawValue < 1 << 62 else { throw .invalid(what: "tick") }
    players = Int(try reader.read(UInt8.self))
    guard Game.playerCounts.contains(players) else { throw .invalid(what: "players") }
    let hash: UInt64 = try reader.read()
    game = try Game(decoding: &reader)
    guard game.hash == hash else { throw .invalid(what: "keyframe's hash") }
  }
}
