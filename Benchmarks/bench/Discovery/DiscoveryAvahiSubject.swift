import Foundation
import Synchronization

/// Avahi's daemon with its command-line tools. The measured times include the start of the tools.
final class DiscoveryAvahiSubject: DiscoverySubject {
  static let name = "avahi"

  private struct Programs {
    var daemon: ChildProgram?
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

  static func isInstalled() -> Bool {
    ["avahi-daemon", "avahi-browse", "avahi-publish-service", "dbus-daemon"]
      .allSatisfy(NetworkLab.has)
  }

  /// Starts the daemon. A daemon that was killed may still be registered on the message bus, so a
  /// failed start is repeated up to twice.
  func prepare() async throws {
    for attempt in 1...3 {
      let configuration = lab.stack == .v4 ? "avahi4.conf" : "avahi.conf"
      let command = "rm -f /run/avahi-daemon/pid; exec ./avahi-host.sh $PWD/\(configuration)"
      let daemon = try lab.startUntilInputEnds(host, ["bash", "-c", command])
      if await daemon.line(where: { $0.contains("Server startup complete") }) != nil {
        programs.withLock { $0.daemon = daemon }
        return try await Task.sleep(for: .milliseconds(500))
      }
      guard attempt < 3 else {
        throw BenchmarkFailure("avahi-daemon: \(daemon.lines().last?.text ?? "printed nothing")")
      }
      daemon.endInput()
      await daemon.end()
    }
  }

  func publish(_ name: String) async throws -> Double {
    let begin = ChildProgram.now
    let program = try lab.startUntilInputEnds(
      host, ["avahi-publish-service", name, DiscoveryPair.type, "4242", "k=v"])
    programs.withLock { $0.publishing = program }
    return begin
  }

  func withdraw() async throws -> Double {
    let begin = ChildProgram.now
    programs.withLock { $0.publishing.take() }?.endInput()
    return begin
  }

  func browse() async throws -> DiscoverySighting {
    let begin = ChildProgram.now
    let program = try lab.startUntilInputEnds(
      host, ["stdbuf", "-oL", "avahi-browse", "-rp", DiscoveryPair.type])
    programs.withLock { $0.browsing.append(program) }
    return DiscoverySighting(program: program, begin: begin, printsTime: false) { event, name in
      let name = name.replacingOccurrences(of: " ", with: "\\032")
      let first =
        switch event {
        case .found: "+;"
        case .resolved: "=;"
        case .removed: "-;"
        }
      return name.isEmpty ? [first] : [first, ";\(name);"]
    }
  }

  func browseAgain() async throws -> DiscoverySighting { try await browse() }

  func reset() async throws {
    let (daemon, browsing) = programs.withLock { programs in
      defer { programs.browsing = [] }
      return (programs.daemon.take(), programs.browsing)
    }
    for program in browsing { program.endInput() }
    daemon?.endInput()
    await daemon?.end()
    try await prepare()
  }
}
