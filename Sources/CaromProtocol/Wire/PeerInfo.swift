import CaromCore

/// What a peer says of itself when it asks for a seat or grants one.
public struct PeerInfo: Hashable, Sendable {
  /// The most bytes that an application's name takes on the wire.
  public static let maximumApplicationLength = 32

  /// Who it is.
  public var id: PeerID
  /// What people call it: at most 63 bytes of UTF-8; two peers may have one name.
  public var name: String
  /// Which game it plays, such as "airhockey": 1 to 32 bytes; both sides must say the same.
  public var application: String
  /// The version of that game's messages; both sides must say the same.
  public var applicationVersion: UInt16
  /// Whether it gives its seat up as soon as somebody who does not asks for it:
  /// a computer opponent that keeps a table warm.
  public var yieldsSeat: Bool
  /// Whether it only looks on: it asks for a spectator's seat, of which a host has others.
  public var isSpectator: Bool

  /// Everything that a peer says of itself. Name and application must be within their lengths.
  public init(
    id: PeerID, name: String, application: String, applicationVersion: UInt16 = 1,
    yieldsSeat: Bool = false, isSpectator: Bool = false
  ) {
    precondition(name.utf8.count <= PeerID.maximumNameLength, "a name has at most 63 bytes")
    precondition(
      (1...Self.maximumApplicationLength).contains(application.utf8.count),
      "an application's name has 1 to 32 bytes")
    self.id = id
    self.name = name
    self.application = application
    self.applicationVersion = applicationVersion
    self.yieldsSeat = yieldsSeat
    self.isSpectator = isSpectator
  }
}

extension PeerInfo: PacketCodable {
  private static let yieldsSeatFlag: UInt8 = 1
  private static let spectatorFlag: UInt8 = 2

  /// Appends id (16 bytes, most significant first), flags, version, application and name.
  public func encode(into writer: inout PacketWriter) {
    writer.writeBigEndian(id.high)
    writer.writeBigEndian(id.low)
    writer.write((yieldsSeat ? Self.yieldsSeatFlag : 0) | (isSpectator ? Self.spectatorFlag : 0))
    writer.write(applicationVersion)
    writer.writeText(application)
    writer.writeText(name)
  }

  /// Reads what `encode(into:)` wrote; unknown flags are kept out, over-long texts refused.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    id = PeerID(high: try reader.readBigEndian(), low: try reader.readBigEndian())
    let flags: UInt8 = try reader.read()
    yieldsSeat = flags & Self.yieldsSeatFlag != 0
    isSpectator = flags & Self.spectatorFlag != 0
    applicationVersion = try reader.read()
    application = try reader.readText(limit: Self.maximumApplicationLength)
    if application.isEmpty { throw .invalid(what: "application: empty") }
    name = try reader.readText(limit: PeerID.maximumNameLength)
  }
}
