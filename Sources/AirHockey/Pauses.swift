/// The seats that have paused the match. The match runs only while neither seat has paused it.
///
/// Each seat changes only its own pause, so the result does not depend on the order in which the
/// host applies the requests of the two seats, and a late request of one player never cancels the
/// other's pause.
public struct Pauses: OptionSet, Hashable, Sendable {
  /// The pauses as bits: bit 0 for home, bit 1 for away.
  public let rawValue: UInt8

  /// Creates a set of pauses from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Home has paused the match.
  public static let home = Pauses(rawValue: 1)
  /// Away has paused the match.
  public static let away = Pauses(rawValue: 2)

  /// Returns a set that contains only the pause of `seat`.
  public static func of(_ seat: Seat) -> Pauses { seat == .home ? .home : .away }

  /// The same pauses with the seats exchanged.
  public var mirrored: Pauses { Pauses(rawValue: (rawValue & 1) << 1 | (rawValue >> 1) & 1) }
}
