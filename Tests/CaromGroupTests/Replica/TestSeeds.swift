import Foundation

/// How many runs the tests make: few in the gate, and as many as `CAROM_SEEDS` says in `make soak`.
enum TestSeeds {
  private static let count = ProcessInfo.processInfo.environment["CAROM_SEEDS"].flatMap {
    UInt64($0)
  }

  /// The first `count` seeds, or as many as `CAROM_SEEDS` says.
  static func first(_ count: UInt64) -> ClosedRange<UInt64> { 1...(self.count ?? count) }

  /// The distance of the steps at which something happens: all steps if `CAROM_SEEDS` is set, and
  /// every fifth one otherwise.
  static var stepStride: Int { count == nil ? 5 : 1 }
}
