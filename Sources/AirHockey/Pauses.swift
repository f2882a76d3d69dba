/// Which seats hold the match. It runs only while neither does.
///
/// Each seat raises and lowers its own hold alone, so operations of the two seats commute: in
/// whatever order the authority takes them, the result is the same, and a late message of one
/// player never undoes the other's pause. Operations of one seat keep their order.
public struct Pauses: OptionSet, Hashable, Sendable {
  /// Bit 0: home; bit 1: away.
  public let rawValue: UInt8

  /// The holds of these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Home holds the match.
  public static let home = Pauses(rawValue: 1)
  /// Away holds the match.
  public static let away = Pauses(rawValue: 2)

  /// The hold of one seat.
  public static func of(_ seat: Seat) -> Pauses { seat == .home ? .home : .away }

  /// Seen from the other end.
  public var mirrored: Pauses { Pauses(rawValue: (rawValue & 1) << 1 | (rawValue >> 1) & 1) }
}
