import CaromCore

/// The snapshots that a client has received: the newest one, and those of the 16 ticks before it.
///
/// Layout: a byte whose bit 0 is set if two more bytes follow, and whose bits 1 to 7 are the low
/// bits of the newest tick. If bit 0 is clear, the client has the snapshots of all eight ticks
/// before the newest, and of none of the eight ticks before those. The two bytes are a
/// little-endian bit set, in which bit 0 is the tick before the newest. A client that has no
/// snapshot, or that is missing the baseline of a snapshot that arrived, sends the byte 1 and the
/// bit set 0x00FF.
public struct SnapshotAcknowledgement: Hashable, Sendable {
  /// The number of earlier ticks that the bit set covers.
  public static let earlierCount = 16
  private static let shortForm: UInt16 = 0xFF

  /// The tick of the newest snapshot, or nil to request a full snapshot.
  public let newest: Tick?
  /// The ticks before `newest` whose snapshots were received. Bit 0 is the tick directly before it.
  public let earlier: UInt16

  /// Creates an acknowledgement of the snapshot of `newest` and of the earlier snapshots in the bit
  /// set `earlier`.
  public init(newest: Tick?, earlier: UInt16 = 0) {
    self.newest = newest
    self.earlier = newest == nil ? 0 : earlier
  }

  /// Whether the client requests a full snapshot.
  public var wantsKeyframe: Bool { newest == nil }
}

extension SnapshotAcknowledgement {
  /// Appends the acknowledgement in the layout documented at `SnapshotAcknowledgement`.
  public func encode(into writer: inout PacketWriter) {
    guard let newest else {
      writer.append(1)
      return writer.write(Self.shortForm)
    }
    let low = UInt8(newest.rawValue & 0x7F) << 1
    guard earlier != Self.shortForm else { return writer.append(low) }
    writer.append(low | 1)
    writer.write(earlier)
  }

  /// Creates an acknowledgement by decoding the layout documented at `SnapshotAcknowledgement`.
  /// `sent` is the newest tick that was sent, from which the full tick is reconstructed.
  public init(decoding reader: inout PacketReader, sent: Tick) throws(DecodeError) {
    let first = try reader.read(UInt8.self)
    let back = (sent.rawValue &- UInt64(first >> 1)) & 0x7F
    var earlier = Self.shortForm
    if first & 1 == 1 {
      earlier = try reader.read(UInt16.self)
      guard earlier != Self.shortForm else {
        guard first == 1 else { throw .invalid(what: "snapshot acknowledgement") }
        self.init(newest: nil)
        return
      }
    }
    guard back <= sent.rawValue else { throw .invalid(what: "snapshot acknowledgement") }
    self.init(newest: sent.advanced(by: -Int64(back)), earlier: earlier)
  }
}
