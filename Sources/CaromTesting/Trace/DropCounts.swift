/// The number of datagrams dropped for each reason.
public struct DropCounts: Hashable, Sendable {
  /// The counts, indexed by the raw values of the reasons. The array is empty until the first drop.
  private var counts: [Int] = []

  /// Creates counts that are all zero.
  public init() {}

  /// Accesses the number of datagrams dropped for a reason.
  public internal(set) subscript(reason: DropReason) -> Int {
    get { counts.isEmpty ? 0 : counts[reason.rawValue] }
    set {
      if counts.isEmpty { counts = Array(repeating: 0, count: DropReason.allCases.count) }
      counts[reason.rawValue] = newValue
    }
  }

  /// The total number of dropped datagrams.
  public var total: Int { counts.reduce(0, +) }
}
