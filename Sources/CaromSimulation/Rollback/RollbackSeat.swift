import CaromCore

/// What a server tells a client before its first keyframe: which player the client controls, and
/// the number of ticks per second.
///
/// Layout: the player u8, or 255 for a spectator; the rate u16, which is not 0.
public struct RollbackSeat: Hashable, Sendable, PacketCodable {
  /// The number that stands for a spectator on the wire.
  private static let spectator: UInt8 = 255

  /// The player that the client controls, or nil if the client is a spectator.
  public var player: Int?
  /// The number of ticks per second.
  public var rate: Int

  /// Creates the seat of a player, or of a spectator if `player` is nil.
  public init(player: Int?, rate: Int) {
    precondition(
      player.map { (0..<SimulationLimits.players).contains($0) } ?? true,
      "a player's number must be 0 to 63")
    precondition((1...Int(UInt16.max)).contains(rate), "the rate must be 1 to 65,535 per second")
    self.player = player
    self.rate = rate
  }

  /// Appends the player and the rate.
  public func encode(into writer: inout PacketWriter) {
    writer.append(player.map { UInt8($0) } ?? Self.spectator)
    writer.write(UInt16(rate))
  }

  /// Creates a seat by decoding it. Throws `DecodeError.invalid` for a player or a rate that no
  /// match can have.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    let number: UInt8 = try reader.read()
    guard number < SimulationLimits.players || number == Self.spectator else {
      throw .invalid(what: "player")
    }
    player = number == Self.spectator ? nil : Int(number)
    rate = Int(try reader.read(UInt16.self))
    guard rate > 0 else { throw .invalid(what: "rate") }
  }
}
