import CaromCore

/// What a replay file begins with.
///
/// Layout: the four bytes "CRPL"; the format's version u8, 1; the count of players u8; the count of
/// an input's fields u8; ticks a second u16; the first tick u64; the title, a `VarInt` length of at
/// most 255 and UTF-8.
public struct ReplayHeader: Hashable, Sendable, PacketCodable {
  /// "CRPL", least significant byte first.
  static let magic: UInt32 = 0x4C50_5243
  /// The only version there is.
  static let version: UInt8 = 1
  /// The longest title, UTF-8 bytes.
  public static let titleLimit = 255

  /// How many players there are.
  public var players: Int
  /// How many fields an input has.
  public var fields: Int
  /// Ticks a second.
  public var rate: Int
  /// The tick of the first keyframe.
  public var start: Tick
  /// What was played, in the game's own words: its name and version, so that a reader can refuse
  /// another game's file.
  public var title: String

  /// A header.
  public init(players: Int, fields: Int, rate: Int, start: Tick, title: String) {
    precondition((1...SimulationLimits.players).contains(players), "1 to 64 players")
    precondition((1...SimulationLimits.inputFields).contains(fields), "1 to 16 fields")
    precondition((1...1_000).contains(rate), "1 to 1,000 ticks a second")
    precondition(title.utf8.count <= Self.titleLimit, "a title of at most 255 bytes")
    self.players = players
    self.fields = fields
    self.rate = rate
    self.start = start
    self.title = title
  }

  /// Appends the layout above.
  public func encode(into writer: inout PacketWriter) {
    writer.write(Self.magic)
    writer.append(Self.version)
    writer.append(UInt8(players))
    writer.append(UInt8(fields))
    writer.write(UInt16(rate))
    writer.write(start.rawValue)
    writer.writeText(title)
  }

  /// Reads the layout above.
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
