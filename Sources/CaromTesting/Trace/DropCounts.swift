/// How many datagrams were dropped, by reason.
public struct DropCounts: Hashable, Sendable {
  /// By raw value; empty as long as nothing was dropped.
  private var counts: [Int] = []

  /// None yet.
  public init() {}

  /// How many for that reason.
  public internal(set) subscript(reason: DropReason) -> Int {
    get { counts.isEmpty ? 0 : counts[reason.rawValue] }
    set {
      if counts.isEmpty { counts = Array(repeating: 0, count: DropReason.allCases.count) }
      counts[reason.rawValue] = newValue
    }
  }

  /// How many in all.
  public var total: Int { counts.reduce(0, +) }
}
