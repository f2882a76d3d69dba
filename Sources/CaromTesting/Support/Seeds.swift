/// The seeds of a random test: many, or the one that failed.
///
/// Reading the environment is the test's own business:
/// `try Seeds(1_000, replay: environment["CAROM_SEED"]).check { seed in … }`.
public struct Seeds: Sequence, Sendable {
  private let seeds: Range<UInt64>

  /// `count` seeds from `first` on; `replay`, where it is a number, is the only one instead.
  public init(_ count: Int, from first: UInt64 = 0, replay: String? = nil) {
    precondition(count >= 0, "a count is not negative")
    if let seed = replay.flatMap({ UInt64($0) }) {
      seeds = seed..<seed + 1
    } else {
      seeds = first..<first + UInt64(count)
    }
  }

  /// Goes through them in order.
  public func makeIterator() -> Range<UInt64>.Iterator { seeds.makeIterator() }

  /// Runs `body` for each seed and stops at the first that fails: `SeedFailure` names it.
  public func check(_ body: (UInt64) throws -> Void) throws(SeedFailure) {
    for seed in seeds {
      do {
        try body(seed)
      } catch {
        throw SeedFailure(seed: seed, reason: "\(error)")
      }
    }
  }

  /// Runs `body` for each seed of each row, and stops at the first that fails.
  public func check(
    _ rows: [LinkProfile], _ body: (LinkProfile, UInt64) throws -> Void
  ) throws(SeedFailure) {
    for row in rows {
      for seed in seeds {
        do {
          try body(row, seed)
        } catch {
          throw SeedFailure(seed: seed, reason: "row \(row): \(error)")
        }
      }
    }
  }
}
