import CaromCore

/// A log of a run, for finding out why the run failed. Tests can compare its entries, and people
/// and tools can read it as JSON lines. Runs with the same seed have identical traces.
public struct Trace: Hashable, Sendable {
  /// The default value of `limit`.
  public static let defaultLimit = 100_000

  /// The maximum number of entries stored. Later entries are only counted.
  public let limit: Int
  /// The entries, oldest first.
  public private(set) var entries: [TraceEntry] = []
  /// The number of entries that were not stored because the trace was full.
  public private(set) var omitted = 0

  /// Creates an empty trace.
  public init(limit: Int = defaultLimit) {
    precondition(limit >= 0, "a limit must not be negative")
    self.limit = limit
  }

  /// The entries as JSON objects, one per line; see `TraceEntry`.
  public var lines: [String] { entries.map(\.description) }

  /// All lines, each with a line ending. If entries were omitted, a last line states their number.
  public var text: String {
    let all = omitted == 0 ? lines : lines + ["{\"omitted\":\(omitted)}"]
    return all.reduce(into: "") { $0 += $1 + "\n" }
  }

  /// Adds a note with the given text.
  public mutating func append(_ text: String, at time: Instant) {
    append {
      var entry = TraceEntry(.note, at: time)
      entry.text = text
      return entry
    }
  }

  /// Adds an entry. If the trace is full, `make` is not called.
  mutating func append(_ make: () -> TraceEntry) {
    guard entries.count < limit else {
      omitted += 1
      return
    }
    entries.append(make())
  }

  /// Returns the first difference from another trace, or nil if the traces are equal.
  public func firstDifference(from other: Trace) -> TraceDifference? {
    let common = min(entries.count, other.entries.count)
    let index = (0..<common).first { entries[$0] != other.entries[$0] }
    if index == nil, entries.count == other.entries.count, omitted == other.omitted { return nil }
    let line = index ?? common
    return TraceDifference(
      line: line + 1, before: entries[max(0, line - 3)..<line].map(\.description),
      here: self.line(line), there: other.line(line))
  }

  private func line(_ index: Int) -> String? {
    if index < entries.count { return entries[index].description }
    return omitted == 0 ? nil : "{\"omitted\":\(omitted)}"
  }
}
