import CaromCore

/// The story of a run in lines, oldest first, for the one run that went wrong.
public struct Trace: Sendable {
  /// The most lines kept unless told otherwise.
  public static let defaultLimit = 100_000

  /// The most lines kept; later ones are only counted.
  public let limit: Int
  /// Time in milliseconds and what happened.
  public private(set) var lines: [String] = []
  /// How many lines were left out.
  public private(set) var omitted = 0

  /// An empty story.
  public init(limit: Int = defaultLimit) { self.limit = limit }

  /// Adds a line.
  public mutating func append(_ text: String, at time: Instant) {
    guard lines.count < limit else {
      omitted += 1
      return
    }
    let microseconds = time.nanoseconds / 1_000
    let fraction = String(microseconds % 1_000 + 1_000).dropFirst()
    lines.append("\(microseconds / 1_000).\(fraction) ms  \(text)")
  }
}
