import CaromCore

/// Which snapshots a client has: its newest, and which of those of the 16 ticks before.
///
/// A byte: bit 0 whether more follows, bits 1 to 7 the low bits of the newest tick. Without more,
/// each of the eight ticks before has come. More is two bytes, least significant first: bit 0 of
/// their number is the tick before the newest, and so on. Where the client has nothing, or lost
/// what the next snapshot is foretold from, the byte is 1 and nothing follows.
public struct SnapshotAcknowledgement: Hashable, Sendable {
  /// Earlier ticks that are told of.
  public static let earlierCount = 16
  private static let shortForm: UInt16 = 0xFF

  /// The newest tick; `nil` asks for a snapshot in full.
  public let newest: Tick?
  /// Which of the ticks before it came: bit 0 the one before it.
  public let earlier: UInt16

  /// Tells of these.
  public init(newest: Tick?, earlier: UInt16 = 0) {
    self.newest = newest
    self.earlier = newest == nil ? 0 : earlier
  }

  /// Whether a snapshot in full is asked for.
  public var wantsKeyframe: Bool { newest == nil }
}

extension SnapshotAcknowledgement {
  /// Appends the bytes.
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

  /// Reads the bytes; `sent` is the newest tick that was sent, which the low bits stand before.
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
