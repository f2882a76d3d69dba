import Foundation
import Testing

/// A network of a test's own: hosts in namespaces, with nothing else on their link.
struct Lab: Sendable {
  /// Which addresses its hosts have.
  enum Addresses: Sendable {
    case routable, linkLocal
  }

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Lab/lan.sh")

  /// Whether there can be one here: it takes root and the tools of iproute2 and util-linux.
  static let isPossible: Bool = {
    let tools = ["ip", "unshare", "nsenter", "setpriv"]
    let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
    return geteuid() == 0
      && tools.allSatisfy { tool in
        folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)") }
      }
  }()
  static let need: Comment = "a lab needs root, iproute2 and util-linux"

  private let environment: [String: String]

  /// Makes a lab with hosts h1, h2, …, runs `body`, and ends everything that runs in it.
  static func run(
    hosts: Int, _ addresses: Addresses = .routable, _ body: (Lab) async throws -> Void
  ) async throws {
    var environment = ["LAN": "e\(UInt32.random(in: 0 ... .max))"]
    if addresses == .linkLocal {
      environment["LAN_NET4"] = "169.254"
      environment["LAN_NET6"] = "none"
    }
    let lab = Lab(environment: environment)
    let result: Result<Void, any Error>
    do {
      try await lab.script("up", "\(hosts)")
      result = .success(try await body(lab))
    } catch {
      result = .failure(error)
    }
    // A test that ran out of time is cancelled, and its lab goes all the same.
    try await Task { try await lab.script("down") }.value
    try result.get()
  }

  private func script(_ arguments: String...) async throws {
    try await RunningProcess(Self.script, arguments, environment: environment).expectSuccess()
  }

  /// Pulls a host's cable; a silent cut drops everything while the link stays up.
  func cut(_ host: String, silently: Bool = false) async throws {
    if silently {
      try await script("cut", host, "silent")
    } else {
      try await script("cut", host)
    }
  }

  /// Makes a host's cable lose that share of all frames each way, and hold each back.
  func harm(_ host: String, lossPercent: Int, delay: Int, jitter: Int) async throws {
    try await script("delay", host, "\(delay)", "\(jitter)")
    try await script("lossy", host, "\(lossPercent)")
  }

  /// Starts a command in a host.
  func start(
    _ executable: URL, _ arguments: [String], on host: String, within limit: Duration
  ) throws -> RunningProcess {
    try RunningProcess(
      Self.script, ["exec", host, executable.path] + arguments, environment: environment,
      isWrapped: true, within: limit)
  }

  /// Runs a command in a host to its end.
  func run(_ command: String..., on host: String) async throws {
    try await RunningProcess(
      Self.script, ["exec", host] + command, environment: environment
    ).expectSuccess()
  }
}

extension RunningProcess {
  func expectSuccess() async throws {
    let status = await status
    let said = await errors.all()
    try #require(status == 0, "\(said)")
  }
}
