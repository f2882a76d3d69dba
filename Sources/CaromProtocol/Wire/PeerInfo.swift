import CaromCore

/// A peer's description of itself, sent when the peer requests or grants a seat.
public struct PeerInfo: Hashable, Sendable {
  /// The maximum length of an application name, in bytes of UTF-8.
  public static let maximumApplicationLength = 32

  /// The peer's id.
  public var id: PeerID
  /// The peer's display name: at most 63 bytes of UTF-8. Peers may share a name.
  public var name: String { didSet { Self.checkName(name) } }
  /// The game, such as "airhockey": 1 to 32 bytes of UTF-8. Both sides must play the same game.
  public var application: String { didSet { Self.checkApplication(application) } }
  /// The version of the game's messages. Both sides must use the same version.
  public var applicationVersion: UInt16
  /// Whether the peer gives up its seat if no seat is free and one is requested by a peer that does
  /// not yield. A computer opponent that waits for a human does so.
  public var yieldsSeat: Bool
  /// Whether the peer requests a spectator's seat, which hosts count separately.
  public var isSpectator: Bool
  /// The number of the match that the peer wants to join, of the matches that the host offers; 0 if
  /// the host is to choose. What the numbers mean is up to the application.
  public var match: UInt16 = 0
  /// The data that a backend has put into the peer's connect token, at most 256 bytes; empty
  /// without a token. Only the host knows it. It comes from the token, not from the peer.
  public internal(set) var backendData: [UInt8] = []

  /// Creates a description of a peer. Traps if the name or the application exceeds its maximum
  /// length.
  public init(
    id: PeerID, name: String, application: String, applicationVersion: UInt16 = 1,
    yieldsSeat: Bool = false, isSpectator: Bool = false
  ) {
    Self.checkName(name)
    Self.checkApplication(application)
    self.id = id
    self.name = name
    self.application = application
    self.applicationVersion = applicationVersion
    self.yieldsSeat = yieldsSeat
    self.isSpectator = isSpectator
  }

  private static func checkName(_ name: String) {
    precondition(name.utf8Length <= PeerID.maximumNameLength, "a name must have at most 63 bytes")
  }

  private static func checkApplication(_ application: String) {
    precondition(
      (1...maximumApplicationLength).contains(application.utf8Length),
      "an application name must have 1 to 32 bytes")
  }
}

extension PeerInfo: PacketCodable {
  private static let yieldsSeatFlag: UInt8 = 1
  private static let spectatorFlag: UInt8 = 2
  private static let matchFlag: UInt8 = 4

  /// Appends the id (16 bytes, most significant first), flags, version, application and name, and
  /// the number of the match if it is not 0.
  public func encode(into writer: inout PacketWriter) {
    writer.writeBigEndian(id.high)
    writer.writeBigEndian(id.low)
    writer.write(
      (yieldsSeat ? Self.yieldsSeatFlag : 0) | (isSpectator ? Self.spectatorFlag : 0)
        | (match == 0 ? 0 : Self.matchFlag))
    writer.write(applicationVersion)
    writer.writeText(application)
    writer.writeText(name)
    if match != 0 { writer.write(match) }
  }

  /// Creates a description from the bytes that `encode(into:)` writes. Ignores unknown flags.
  /// Throws if the application or the name is too long, if the application is empty, or if the
  /// number of the match is there and 0.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    id = PeerID(high: try reader.readBigEndian(), low: try reader.readBigEndian())
    let flags: UInt8 = try reader.read()
    yieldsSeat = flags & Self.yieldsSeatFlag != 0
    isSpectator = flags & Self.spectatorFlag != 0
    applicationVersion = try reader.read()
    application = try reader.readText(limit: Self.maximumApplicationLength)
    if application.isEmpty { throw .invalid(what: "application: empty") }
    name = try reader.readText(limit: PeerID.maximumNameLength)
    guard flags & Self.matchFlag != 0 else { return }
    match = try reader.read()
    if match == 0 { throw .invalid(what: "match: 0") }
  }
}
