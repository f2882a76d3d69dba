import CaromCore

/// The right of a host to run a match.
///
/// A match has one claim that counts at a time. Whenever another host takes the match over, the
/// number grows; what comes with an older number is refused, however late it arrives.
public struct MatchClaim: Hashable, Sendable {
  /// The maximum claim number: numbers up to this one are exact in every script language.
  package static let maximumNumber: UInt64 = 1 << 53

  /// The match that is claimed.
  public let match: MatchID
  /// The host that claims it.
  public let host: PeerID
  /// The number of the claim. Each new claim of a match has a greater number than all before.
  public let number: UInt64

  /// Creates a claim.
  public init(_ match: MatchID, host: PeerID, number: UInt64) {
    self.match = match
    self.host = host
    self.number = number
  }

  /// Returns the number that follows `last` at the directory's time `now`.
  ///
  /// The number is at least the directory's time in milliseconds. It therefore keeps growing even
  /// if the directory has lost all of its data, as long as the clock is not set back as well.
  static func number(after last: UInt64, at now: Instant) -> UInt64 {
    min(max(last + 1, UInt64(clamping: now.nanoseconds / 1_000_000)), maximumNumber)
  }
}

extension MatchClaim: PacketCodable {
  /// Appends the match's name, the host's id (16 bytes, big-endian) and the number (`VarInt`).
  public func encode(into writer: inout PacketWriter) {
    match.encode(into: &writer)
    writer.writeBigEndian(host.high)
    writer.writeBigEndian(host.low)
    writer.writeVarInt(number)
  }

  /// Reads a claim. Throws if a part of it is not valid.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    match = try MatchID(decoding: &reader)
    host = PeerID(high: try reader.readBigEndian(), low: try reader.readBigEndian())
    number = try reader.readVarInt()
    guard number <= Self.maximumNumber else { throw .invalid(what: "number of a claim") }
  }
}
