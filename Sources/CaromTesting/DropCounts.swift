/// How many datagrams were dropped, by reason.
public struct DropCounts: Hashable, Sendable {
  private var counts = [Int](repeating: 0, count: DropReason.allCases.count)

  /// None yet.
  public init() {}

  /// How many for that reason.
  public internal(set) subscript(reason: DropReason) -> Int {
    get { counts[reason.rawValue] }
    set { counts[reason.rawValue] = newValue }
  }

  /// How many in all.
  public var total: Int { counts.reduce(0, +) }
}
