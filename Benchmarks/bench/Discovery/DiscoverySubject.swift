import Foundation

/// An implementation of discovery on a host of the lab, which publishes or browses.
protocol DiscoverySubject: AnyObject, Sendable {
  /// The implementation's name in tables.
  static var name: String { get }

  init(in lab: NetworkLab, host: String)

  /// Starts the processes that must run before a measurement.
  func prepare() async throws

  /// Publishes a service of `DiscoveryPair.type`. Returns the time at which the publication began.
  func publish(_ name: String) async throws -> Double

  /// Withdraws the service. Returns the time at which the withdrawal began.
  func withdraw() async throws -> Double

  /// Browses for services and resolves each service that it finds.
  func browse() async throws -> DiscoverySighting

  /// Browses a second time, with a filled cache.
  func browseAgain() async throws -> DiscoverySighting

  /// Stops browsing and empties the cache.
  func reset() async throws
}

/// A running browse: its start and its output.
struct DiscoverySighting: Sendable {
  /// An event of a browse.
  enum Event: Sendable {
    case found, resolved, removed
  }

  let program: ChildProgram
  /// The time at which the browse began, in milliseconds.
  let begin: Double
  /// The index of the browse's first line in the output.
  var first = 0
  /// Whether each line starts with the time of its event.
  let printsTime: Bool
  /// The strings that a line contains if it reports the given event of the named service.
  let patterns: @Sendable (Event, _ name: String) -> [String]

  /// Returns the time of an event, or `nil` if it is not reported within `limit`.
  func time(of event: Event, _ name: String, within limit: Duration = .seconds(10)) async -> Double?
  {
    let patterns = patterns(event, name)
    let line = await program.line(from: first, within: limit) { text in
      patterns.allSatisfy { text.contains($0) }
    }
    return line.map { line in
      printsTime ? line.text.split(separator: " ").first.flatMap { Double($0) } ?? .nan : line.time
    }
  }

  /// Returns the number of resolved services and the time of the last one's event.
  func resolvedNames() -> (count: Int, last: Double) {
    var names: Set<String> = []
    var last = 0.0
    let patterns = patterns(.resolved, "")
    for line in program.lines(from: first)
    where patterns.allSatisfy({ line.text.contains($0) }) {
      let name = serviceName(line.text)
      guard names.insert(name).inserted else { continue }
      last =
        printsTime ? line.text.split(separator: " ").first.flatMap { Double($0) } ?? 0 : line.time
    }
    return (names.count, last)
  }

  /// Returns the part of a line that names the service.
  private func serviceName(_ line: String) -> String {
    if !printsTime { return line.split(separator: ";").dropFirst(3).first.map(String.init) ?? line }
    let words = line.split(separator: " ").dropFirst(2).joined(separator: " ")
    return words.components(separatedBy: "._").first ?? words
  }
}
