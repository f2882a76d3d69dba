import Foundation
import Testing

/// A private network of a test. Its hosts are network namespaces on a link of their own.
struct Lab: Sendable {
  /// The addresses of the hosts.
  enum Addresses: Sendable {
    case routable, linkLocal
  }

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Lab/lan.sh")

  /// Whether a lab can be created on this computer: it needs root and the tools of iproute2 and
  /// util-linux.
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

  /// Creates a lab with hosts h1, h2, …, runs `body`, and ends all processes in the lab.
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
    // In a new task, so that the lab is removed even if the test was cancelled at its time limit.
    try await Task { try await lab.script("down") }.value
    try result.get()
  }

  private func script(_ arguments: String...) async throws {
    try await RunningProcess(Self.script, arguments, environment: environment).expectSuccess()
  }

  /// Disconnects a host's cable. With `silently`, the link stays up but drops all packets.
  func cut(_ host: String, silently: Bool = false) async throws {
    if silently {
      try await script("cut", host, "silent")
    } else {
      try await script("cut", host)
    }
  }

  /// Connects a host's cable again, which then loses nothing.
  func heal(_ host: String) async throws { try await script("heal", host) }

  /// Makes a host's cable lose a share of all frames in both directions and delay the others. The
  /// delay and the jitter are in milliseconds.
  func harm(_ host: String, lossPercent: Int, delay: Int, jitter: Int) async throws {
    try await script("delay", host, "\(delay)", "\(jitter)")
    try await script("lossy", host, "\(lossPercent)")
  }

  /// Starts a command on a host.
  func start(
    _ executable: URL, _ arguments: [String], on host: String, within limit: Duration
  ) throws -> RunningProcess {
    try RunningProcess(
      Self.script, ["exec", host, executable.path] + arguments, environment: environment,
      isWrapped: true, within: limit)
  }

  /// Runs `body` while a program on a host has taken port 5353 on all addresses.
  func withTakenPort(on host: String, _ body: () async throws -> Void) async throws {
    let take = """
      import socket, sys
      sockets = [socket.socket(family, socket.SOCK_DGRAM)
                 for family in (socket.AF_INET, socket.AF_INET6)]
      sockets[1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
      for taken in sockets: taken.bind(("", 5353))
      print("ready", flush=True)
      sys.stdin.read()  # until the program is stopped
      """
    let holder = try start(
      URL(filePath: "/usr/bin/env"), ["python3", "-c", take], on: host,
      within: RunningProcess.limit)
    #expect(await holder.output.line { $0 == "ready" } != nil)
    try await body()
    holder.signal(SIGTERM)
  }

  /// Runs a command on a host to its end. The test fails if the command does.
  func run(_ command: String..., on host: String) async throws {
    try await RunningProcess(
      Self.script, ["exec", host] + command, environment: environment
    ).expectSuccess()
  }
}

extension RunningProcess {
  func expectSuccess() async throws {
    let status = await status
    let lines = await errors.all()
    try #require(status == 0, "\(lines)")
  }
}
