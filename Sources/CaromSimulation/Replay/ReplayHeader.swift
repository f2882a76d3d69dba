import CaromCore

/// The header of a replay file.
///
/// Layout: the four bytes "CRPL"; the format version u8, 1; the number of players u8; the number of
/// fields in an input u8; ticks per second u16; the first tick u64; the length of the title in
/// bytes as a `VarInt`, at most 255; the title in UTF-8.
public struct ReplayHeader: Hashable, Sendable, PacketCodable {
  /// The bytes "CRPL" as a little-endian integer.
  static let magic: UInt32 = 0x4C50_5243
  /// The only supported version of the file format.
  static let version: UInt8 = 1
  /// The maximum length of the title in UTF-8 bytes.
  public static let titleLimit = 255

  /// The number of players.
  public var players: Int
  /// The number of integers in an input.
  public var fields: Int
  /// The number of ticks per second.
  public var rate: Int
  /// The tick of the first keyframe.
  public var start: Tick
  /// A title chosen by the game, usually its name and version, so that a reader can reject another
  /// game's file.
  public var title: String

  /// Creates a header. The title must not exceed `titleLimit` bytes.
  public init(players: Int, fields: Int, rate: Int, start: Tick, title: String) {
    precondition((1...SimulationLimits.players).contains(players), "there must be 1 to 64 players")
    precondition(
      (1...SimulationLimits.inputFields).contains(fields), "there must be 1 to 16 input fields")
    precondition((1...1_000).contains(rate), "the rate must be 1 to 1,000 ticks per second")
    precondition(
      title.utf8.count <= Self.titleLimit, "the title must not exceed 255 bytes of UTF-8")
    self.players = players
    self.fields = fields
    self.rate = rate
    self.start = start
    self.title = title
  }

  /// Appends the header in the layout documented at `ReplayHeader`.
  public func encode(into writer: inout PacketWriter) {
    writer.write(Self.magic)
    writer.append(Self.version)
    writer.append(UInt8(players))
    writer.append(UInt8(fields))
    writer.write(UInt16(rate))
    writer.write(start.rawValue)
    writer.writeText(title)
  }

  /// Creates a header by decoding the layout documented at `ReplayHeader`.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard try reader.read(UInt32.self) == Self.magic else { throw .invalid(what: "replay") }
    guard try reader.read(UInt8.self) == Self.version else {
      throw .invalid(what: "replay version")
    }
    players = Int(try reader.read(UInt8.self))
    fields = Int(try reader.read(UInt8.self))
    rate = Int(try reader.read(UInt16.self))
    start = Tick(try reader.read(UInt64.self))
    guard (1...SimulationLimits.players).contains(players) else { throw .invalid(what: "players") }
    guard (1...SimulationLimits.inputFields).contains(fields) else {
      throw .invalid(what: "input fields")
    }
    guard (1...1_000).contains(rate) else { throw .invalid(what: "tick rate") }
    guard start.rawValue < 1 << 62 else { throw .invalid(what: "first tick") }
    title = try reader.readText(limit: Self.titleLimit)
  }
}
