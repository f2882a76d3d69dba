import Synchronization

/// python-zeroconf, run by `Tests/Lab/zc.py`, which prints the time of each event.
final class DiscoveryZeroconfSubject: DiscoverySubject {
  static let name = "zeroconf"

  private struct Programs {
    var publishing: ChildProgram?
    var browsing: [ChildProgram] = []
  }

  private let lab: NetworkLab
  private let host: String
  private let programs = Mutex(Programs())

  init(in lab: NetworkLab, host: String) {
    self.lab = lab
    self.host = host
  }

  /// The system's own Python, for which Debian packages python-zeroconf. Another Python that comes
  /// first in the PATH does not have it.
  private static let python = "/usr/bin/python3"

  static func isInstalled() async -> Bool {
    await NetworkLab.succeeds(python, "-c", "import zeroconf")
  }

  func prepare() async throws {}

  private var versions: String { lab.stack == .v4 ? "v4" : "all" }

  private func begin(_ program: ChildProgram, _ word: String, _ limit: Duration) async throws
    -> Double
  {
    guard let line = await program.line(within: limit, where: { $0.hasSuffix(" \(word)") }),
      let time = line.text.split(separator: " ").first.flatMap({ Double($0) })
    else {
      throw BenchmarkFailure(
        "zc.py: \(program.lines().last?.text ?? "no output; can python3 import zeroconf?")"
      )
    }
    return time
  }

  func publish(_ name: String) async throws -> Double {
    let program = try lab.start(
      host, [Self.python, "zc.py", "pub", name, DiscoveryPair.type, "4242", versions])
    programs.withLock { $0.publishing = program }
    return try await begin(program, "REGISTER", .seconds(10))
  }

  func withdraw() async throws -> Double {
    guard let program = programs.withLock({ $0.publishing.take() }) else { return .nan }
    program.endInput()
    return try await begin(program, "UNREGISTER", .seconds(10))
  }

  func browse() async throws -> DiscoverySighting {
    let program = try lab.start(
      host, [Self.python, "zc.py", "browse", DiscoveryPair.type, "-", versions])
    programs.withLock { $0.browsing.append(program) }
    let begin = try await begin(program, "BROWSE", .seconds(10))
    return DiscoverySighting(program: program, begin: begin, printsTime: true) { event, name in
      switch event {
      case .found: [" ADD \(name)"]
      case .resolved: [" RESOLVED \(name)"]
      case .removed: [" REMOVE \(name)"]
      }
    }
  }

  func browseAgain() async throws -> DiscoverySighting {
    guard let program = programs.withLock({ $0.browsing.last }) else {
      throw BenchmarkFailure("zc.py is not browsing: browse before browsing again")
    }
    program.send("again")
    let begin = try await begin(program, "BROWSE2", .seconds(10))
    return DiscoverySighting(program: program, begin: begin, printsTime: true) { _, name in
      [" WARM \(name)"]
    }
  }

  func reset() async throws {
    let browsing = programs.withLock { programs in
      defer { programs.browsing = [] }
      return programs.browsing
    }
    for program in browsing { program.endInput() }
  }
}
