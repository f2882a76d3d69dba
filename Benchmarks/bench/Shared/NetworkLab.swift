import Foundation

/// An emulated LAN of network namespaces for one measurement (`Tests/Lab/lan.sh`). Its hosts are
/// called h1, h2 and so on; its bridges are in the namespace "sw".
final class NetworkLab: Sendable {
  /// The IP versions of the hosts.
  enum Stack: String, Sendable {
    case dual, v4
  }

  static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appending(path: "Tests/Lab")

  let stack: Stack
  private let environment: [String: String]
  /// The process that holds the LAN. It removes the LAN when its standard input ends, which also
  /// happens if this program is killed.
  private let holder: ChildProgram

  private init(hosts: Int, _ stack: Stack) async throws {
    self.stack = stack
    let name = "bench\(UInt32.random(in: 0 ... .max))"
    environment = ["LAN": name].merging(stack == .v4 ? ["LAN_NET6": "off"] : [:]) { $1 }
    let script = Self.folder.appending(path: "lan.sh").path
    holder = try ChildProgram(
      [script, "run", "\(hosts)", "bash", "-c", "echo up; cat >/dev/null"], in: Self.folder,
      environment)
    guard await holder.line(within: .seconds(60), where: { $0 == "up" }) != nil else {
      throw BenchmarkFailure(
        "cannot set up the lab: \(holder.lines().last?.text ?? "lan.sh printed nothing")")
    }
  }

  /// Sets up a LAN, passes it to `body`, and removes it with every process that runs in it.
  static func with<Value>(
    hosts: Int, _ stack: Stack = .dual, _ body: (NetworkLab) async throws -> Value
  ) async throws -> Value {
    let lab = try await NetworkLab(hosts: hosts, stack)
    let result: Result<Value, any Error>
    do { result = .success(try await body(lab)) } catch { result = .failure(error) }
    lab.holder.endInput()
    await lab.holder.end()
    return try result.get()
  }

  /// The first requirement of a lab that the machine does not meet, with a remedy, or `nil` if it
  /// meets all.
  static var shortcoming: String? {
    if geteuid() != 0 {
      return "the lab needs root: run bench with sudo, or as root in a container"
    }
    let missing = ["ip", "nft", "nsenter", "setpriv", "tcpdump", "unshare"].filter { !has($0) }
    if !missing.isEmpty {
      return "\(missing.joined(separator: ", ")) not found: run .ci/setup test"
    }
    guard FileManager.default.isExecutableFile(atPath: folder.appending(path: "lan.sh").path)
    else {
      return "\(folder.path)/lan.sh is missing: build bench in a complete checkout of the project"
    }
    return nil
  }

  /// Returns whether a program is installed on the machine.
  static func has(_ program: String) -> Bool {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"]
    return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }

  /// Returns whether a command exits with status 0.
  static func succeeds(_ command: String...) async -> Bool {
    let line = command.map { "'\($0)'" }.joined(separator: " ")
    let program = try? ChildProgram(
      ["/bin/bash", "-c", "\(line) >/dev/null 2>&1 && echo yes || echo no"], in: folder, [:])
    return await program?.line { $0 == "yes" || $0 == "no" }?.text == "yes"
  }

  /// Starts a program on a host.
  func start(_ host: String, _ command: [String]) throws -> ChildProgram {
    let script = Self.folder.appending(path: "lan.sh").path
    return try ChildProgram([script, "exec", host] + command, in: Self.folder, environment)
  }

  /// Starts a program on a host. The program is killed when its standard input ends.
  func startUntilInputEnds(_ host: String, _ command: [String]) throws -> ChildProgram {
    try start(host, ["bash", "-c", "\"$@\" & read -r; kill -KILL $!", "bash"] + command)
  }

  /// Starts Carom's side on a host; see `DiscoveryPeerCommand`.
  func startPeer(_ host: String) async throws -> ChildProgram {
    let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let peer = try start(host, [path, "discovery-peer"])
    guard await peer.line(where: { $0.hasSuffix(" ready") }) != nil else {
      throw BenchmarkFailure(
        "\(host): \(peer.lines().last?.text ?? "the peer did not start; try a quiet machine")"
      )
    }
    return peer
  }

  /// Runs a command of `lan.sh` that changes the LAN, such as "cut h1". Returns the time at which
  /// the change began.
  @discardableResult
  func change(_ arguments: String...) async throws -> Double {
    let began = ChildProgram.now
    let program = try ChildProgram(
      ["/bin/bash", "-c", "./lan.sh \"$@\"; echo status $?", "lan.sh"] + arguments,
      in: Self.folder, environment)
    let status = await program.line(within: .seconds(60)) { $0.hasPrefix("status ") }
    guard status?.text == "status 0" else {
      let said = program.lines().map(\.text).joined(separator: " ")
      throw BenchmarkFailure("lan.sh \(arguments.joined(separator: " ")): \(said)")
    }
    return began
  }

  /// Starts to capture the frames that pass a bridge.
  func capture(bridge: Int = 0) async throws -> DiscoveryCapture {
    let file = FileManager.default.temporaryDirectory
      .appending(path: "carom-bench-\(UInt64.random(in: 0 ... .max)).pcap")
    let program = try startUntilInputEnds(
      "sw",
      [
        "tcpdump", "-Z", "root", "--immediate-mode", "-B", "8192", "-U", "-i", "br\(bridge)", "-w",
        file.path, "udp port 5353",
      ])
    guard await program.line(where: { $0.contains("listening on") }) != nil else {
      throw BenchmarkFailure(
        "tcpdump: \(program.lines().last?.text ?? "printed nothing; check that it starts as root")")
    }
    return DiscoveryCapture(file: file, program: program)
  }
}
