import Foundation

/// How many runs the tests make: few in the gate, and as many as `CAROM_SEEDS` says in `make soak`.
enum TestSeeds {
  static let limit = ProcessInfo.processInfo.environment["CAROM_SEEDS"].flatMap { UInt64($0) }
}
