/// The seeds of a randomized test: a range of seeds, or the one seed to replay after a failure.
///
/// The test reads the seed to replay from its environment:
/// `try Seeds(1_000, replay: environment["CAROM_SEED"]).check { seed in … }`.
public struct Seeds: Sequence, Sendable {
  private let seeds: Range<UInt64>

  /// Creates `count` consecutive seeds that start with `first`, or the single seed `replay` if
  /// `replay` is a number.
  public init(_ count: Int, from first: UInt64 = 0, replay: String? = nil) {
    precondition(count >= 0, "a count must not be negative")
    if let seed = replay.flatMap({ UInt64($0) }) {
      seeds = seed..<seed + 1
    } else {
      seeds = first..<first + UInt64(count)
    }
  }

  /// Returns an iterator over the seeds in ascending order.
  public func makeIterator() -> Range<UInt64>.Iterator { seeds.makeIterator() }

  /// Runs `body` for each seed. Throws at the first failure, with an error that names the seed.
  public func check(_ body: (UInt64) throws -> Void) throws(SeedFailure) {
    for seed in seeds {
      do {
        try body(seed)
      } catch {
        throw SeedFailure(seed: seed, reason: "\(error)")
      }
    }
  }

  /// Runs the async `body` for each seed, one after another. Throws at the first failure, with an
  /// error that names the seed.
  public func check(_ body: (UInt64) async throws -> Void) async throws(SeedFailure) {
    for seed in seeds {
      do {
        try await body(seed)
      } catch {
        throw SeedFailure(seed: seed, reason: "\(error)")
      }
    }
  }
}

/// The failure of a randomized test, with the seed that reproduces it.
public struct SeedFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The seed with which the test failed.
  public let seed: UInt64
  /// A description of the error that the test threw.
  public let reason: String

  /// Creates the failure of a test run with the given seed.
  public init(seed: UInt64, reason: String) {
    self.seed = seed
    self.reason = reason
  }

  /// A one-line message that says how to reproduce the failure.
  public var description: String { "CAROM_SEED=\(seed) reproduces this failure: \(reason)" }
}
