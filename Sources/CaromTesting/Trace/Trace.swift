import CaromCore

/// The story of a run, oldest first, for the one run that went wrong: as values for tests, as JSON
/// lines for people and tools. The same seed tells the same story to the last byte.
public struct Trace: Hashable, Sendable {
  /// The most entries kept unless told otherwise.
  public static let defaultLimit = 100_000

  /// The most entries kept; later ones are only counted.
  public let limit: Int
  /// What happened.
  public private(set) var entries: [TraceEntry] = []
  /// How many entries were left out.
  public private(set) var omitted = 0

  /// An empty story.
  public init(limit: Int = defaultLimit) {
    precondition(limit >= 0, "a limit is not negative")
    self.limit = limit
  }

  /// One JSON object an entry; see `TraceEntry`.
  public var lines: [String] { entries.map(\.description) }

  /// All lines, each with its end; where some were left out, a last one counts them.
  public var text: String {
    let all = omitted == 0 ? lines : lines + ["{\"omitted\":\(omitted)}"]
    return all.reduce(into: "") { $0 += $1 + "\n" }
  }

  /// Adds a note of a test's own.
  public mutating func append(_ text: String, at time: Instant) {
    append {
      var entry = TraceEntry(.note, at: time)
      entry.text = text
      return entry
    }
  }

  /// Adds an entry, which is not even made where there is no room for it.
  mutating func append(_ make: () -> TraceEntry) {
    guard entries.count < limit else {
      omitted += 1
      return
    }
    entries.append(make())
  }

  /// Where two stories part; `nil` where they are the same.
  public func firstDifference(from other: Trace) -> TraceDifference? {
    let common = min(entries.count, other.entries.count)
    let place = (0..<common).first { entries[$0] != other.entries[$0] }
    if place == nil, entries.count == other.entries.count, omitted == other.omitted { return nil }
    let line = place ?? common
    return TraceDifference(
      line: line + 1, before: entries[max(0, line - 3)..<line].map(\.description),
      here: self.line(line), there: other.line(line))
  }

  private func line(_ index: Int) -> String? {
    if index < entries.count { return entries[index].description }
    return omitted == 0 ? nil : "{\"omitted\":\(omitted)}"
  }
}
