import Foundation

/// One implementation of discovery in a host of the lab: publishes, or browses.
protocol DiscoverySubject: AnyObject, Sendable {
  /// What it is called in tables.
  static var name: String { get }

  init(in lab: DiscoveryLab, host: String)

  /// Starts what has to run before anything is measured.
  func prepare() async throws

  /// Makes a service of `DiscoveryPair.type` visible; the time at which that began.
  func publish(_ name: String) async throws -> Double

  /// Takes it back; the time at which that began.
  func withdraw() async throws -> Double

  /// Looks for services, and resolves what it finds.
  func browse() async throws -> DiscoverySighting

  /// Looks once more, beside what it knows.
  func browseAgain() async throws -> DiscoverySighting

  /// Ends what looks, and forgets what it knows.
  func forget() async throws
}

/// A browsing: when it began, and where its lines are.
struct DiscoverySighting: Sendable {
  /// What can be waited for.
  enum Event: Sendable {
    case found, resolved, removed
  }

  let program: DiscoveryProgram
  /// When it began.
  let begin: Double
  /// The first of its lines.
  var first = 0
  /// Whether its lines begin with their time.
  let tellsTime: Bool
  /// How a line shows an event and its service.
  let patterns: @Sendable (Event, _ name: String) -> [String]

  /// When it told of an event; `nil` where it did not in time.
  func time(of event: Event, _ name: String, within limit: Duration = .seconds(10)) async -> Double?
  {
    let patterns = patterns(event, name)
    let line = await program.line(from: first, within: limit) { text in
      patterns.allSatisfy { text.contains($0) }
    }
    return line.map { line in
      tellsTime ? line.text.split(separator: " ").first.flatMap { Double($0) } ?? .nan : line.time
    }
  }

  /// How many services it has told of and resolved, and when it told of the last.
  func resolvedNames() -> (count: Int, last: Double) {
    var names: Set<String> = []
    var last = 0.0
    let patterns = patterns(.resolved, "")
    for line in program.lines(from: first)
    where patterns.allSatisfy({ line.text.contains($0) }) {
      let name = serviceName(line.text)
      guard names.insert(name).inserted else { continue }
      last =
        tellsTime ? line.text.split(separator: " ").first.flatMap { Double($0) } ?? 0 : line.time
    }
    return (names.count, last)
  }

  /// The part of a line that names the service.
  private func serviceName(_ line: String) -> String {
    if !tellsTime { return line.split(separator: ";").dropFirst(3).first.map(String.init) ?? line }
    let words = line.split(separator: " ").dropFirst(2).joined(separator: " ")
    return words.components(separatedBy: "._").first ?? words
  }
}
