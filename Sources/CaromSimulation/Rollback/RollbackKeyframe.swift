import CaromCore

/// A complete state and its tick, from which a client can start after joining late or falling
/// behind.
///
/// Layout: tick u64, the number of players u8, the state's hash u64, then the `PacketCodable`
/// encoding of the state to the end.
public struct RollbackKeyframe<Game: Simulation & PacketCodable>: Sendable, PacketCodable {
  /// The tick of the state. The step of this tick has not been simulated yet.
  public var tick: Tick
  /// The number of players.
  public var players: Int
  /// The state before the step of `tick`.
  public var game: Game

  /// Creates the keyframe of the state before the step of `tick`.
  public init(tick: Tick, players: Int, game: Game) {
    self.tick = tick
    self.players = players
    self.game = game
  }

  /// Appends the keyframe in the layout documented at `RollbackKeyframe`.
  public func encode(into writer: inout PacketWriter) {
    writer.write(tick.rawValue)
    writer.append(UInt8(players))
    writer.write(game.hash)
    game.encode(into: &writer)
  }

  /// Creates a keyframe by decoding the layout documented at `RollbackKeyframe`. Throws
  /// `DecodeError.invalid` if the decoded state does not have the transmitted hash.
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
