import Synchronization

/// Carom's discovery: a process that runs `DiscoveryPeerCommand`.
final class DiscoveryCaromSubject: DiscoverySubject {
  static let name = "carom"

  private let lab: NetworkLab
  private let host: String
  private let started = Mutex<ChildProgram?>(nil)

  init(in lab: NetworkLab, host: String) {
    self.lab = lab
    self.host = host
  }

  /// The process that runs Carom's discovery.
  var program: ChildProgram {
    get throws {
      guard let program = started.withLock({ $0 }) else {
        throw BenchmarkFailure("\(host) has no process: prepare it before it publishes or browses")
      }
      return program
    }
  }

  func prepare() async throws {
    let program = try await lab.startPeer(host)
    started.withLock { $0 = program }
  }

  /// Sends a command and waits for the line that ends with `echo`. Returns the time in that line.
  func ask(_ words: String, _ echo: String, within limit: Duration = .seconds(10)) async throws
    -> Double
  {
    let program = try program
    let first = program.count
    program.send(words)
    let line = await program.line(from: first, within: limit) { $0.hasSuffix(" \(echo)") }
    guard let line, let time = line.text.split(separator: " ").first.flatMap({ Double($0) }) else {
      throw BenchmarkFailure(
        "\(host): no '\(echo)' after '\(words)' in time; run again on a quiet machine")
    }
    return time
  }

  func publish(_ name: String) async throws -> Double {
    try await ask("publish\t\(name)\t\(DiscoveryPair.type)\t4242", "publish")
  }

  func withdraw() async throws -> Double { try await ask("withdraw", "withdraw") }

  func browse() async throws -> DiscoverySighting { try await look("browse") }

  /// Browses for services without resolving them.
  func watch() async throws -> DiscoverySighting { try await look("watch") }

  private func look(_ how: String) async throws -> DiscoverySighting {
    let program = try program
    let first = program.count
    let begin = try await ask("\(how)\t\(DiscoveryPair.type)", how)
    return DiscoverySighting(program: program, begin: begin, first: first, printsTime: true) {
      event, name in
      switch event {
      case .found: [" added \(name)"]
      case .resolved: [" resolved \(name)"]
      case .removed: [" removed \(name)"]
      }
    }
  }

  func browseAgain() async throws -> DiscoverySighting { try await browse() }

  func reset() async throws { try program.send("forget") }

  /// Returns the process's resident memory in kilobytes and its processor time in milliseconds.
  func usage() async throws -> (kilobytes: Double, milliseconds: Double) {
    let program = try program
    let first = program.count
    program.send("usage")
    let line = await program.line(from: first) { $0.contains(" usage ") }
    let numbers = (line?.text ?? "").split(separator: " ").compactMap { Double($0) }
    return numbers.count == 3 ? (numbers[1], numbers[2]) : (.nan, .nan)
  }
}
