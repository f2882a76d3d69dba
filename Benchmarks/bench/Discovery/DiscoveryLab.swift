import Foundation

/// A LAN of network namespaces for a measurement (`Tests/Lab/lan.sh`); its hosts are h1, h2 and
/// so on, and its bridges stand in the room "sw".
final class DiscoveryLab: Sendable {
  /// What the hosts speak.
  enum Stack: String, Sendable {
    case dual, v4
  }

  static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appending(path: "Tests/Lab")

  let stack: Stack
  private let environment: [String: String]
  /// Takes the LAN down when its input ends, and so also where this program is killed.
  private let holder: DiscoveryProgram

  private init(hosts: Int, _ stack: Stack) async throws {
    self.stack = stack
    let name = "bench\(UInt32.random(in: 0 ... .max))"
    environment = ["LAN": name].merging(stack == .v4 ? ["LAN_NET6": "off"] : [:]) { $1 }
    let script = Self.folder.appending(path: "lan.sh").path
    holder = try DiscoveryProgram(
      [script, "run", "\(hosts)", "bash", "-c", "echo up; cat >/dev/null"], in: Self.folder,
      environment)
    guard await holder.line(within: .seconds(60), where: { $0 == "up" }) != nil else {
      throw DiscoveryFailure("no lab: \(holder.lines().last?.text ?? "lan.sh says nothing")")
    }
  }

  /// Builds a LAN, lends it to `body`, and takes it down with all that runs in it.
  static func with<Value>(
    hosts: Int, _ stack: Stack = .dual, _ body: (DiscoveryLab) async throws -> Value
  ) async throws -> Value {
    let lab = try await DiscoveryLab(hosts: hosts, stack)
    let result: Result<Value, any Error>
    do { result = .success(try await body(lab)) } catch { result = .failure(error) }
    lab.holder.endInput()
    await lab.holder.end()
    return try result.get()
  }

  /// What is missing for a lab, in one line; `nil` where all is there.
  static var shortcoming: String? {
    if geteuid() != 0 { return "a lab needs root: run it with sudo, or as root in a container" }
    let missing = ["ip", "nft", "nsenter", "setpriv", "tcpdump", "unshare"].filter { !has($0) }
    if !missing.isEmpty { return "\(missing.joined(separator: ", ")) missing: run .ci/setup test" }
    guard FileManager.default.isExecutableFile(atPath: folder.appending(path: "lan.sh").path)
    else { return "\(folder.path)/lan.sh is missing: run it from the project's folder" }
    return nil
  }

  /// Whether the machine has a program.
  static func has(_ program: String) -> Bool {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"]
    return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }

  /// Whether a command succeeds.
  static func succeeds(_ command: String...) async -> Bool {
    let line = command.map { "'\($0)'" }.joined(separator: " ")
    let program = try? DiscoveryProgram(
      ["/bin/bash", "-c", "\(line) >/dev/null 2>&1 && echo yes || echo no"], in: folder, [:])
    return await program?.line { $0 == "yes" || $0 == "no" }?.text == "yes"
  }

  /// Starts a program in a host.
  func start(_ host: String, _ command: [String]) throws -> DiscoveryProgram {
    let script = Self.folder.appending(path: "lan.sh").path
    return try DiscoveryProgram([script, "exec", host] + command, in: Self.folder, environment)
  }

  /// Starts a program in a host that is killed when its input ends.
  func startUntilInputEnds(_ host: String, _ command: [String]) throws -> DiscoveryProgram {
    try start(host, ["bash", "-c", "\"$@\" & read -r; kill -KILL $!", "bash"] + command)
  }

  /// Starts our own side in a host: `DiscoveryPeerCommand`.
  func startPeer(_ host: String) async throws -> DiscoveryProgram {
    let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let peer = try start(host, [path, "discovery-peer"])
    guard await peer.line(where: { $0.hasSuffix(" ready") }) != nil else {
      throw DiscoveryFailure("\(host): \(peer.lines().last?.text ?? "the peer says nothing")")
    }
    return peer
  }

  /// Does something to the LAN, such as "cut h1"; the time at which it began.
  @discardableResult
  func change(_ arguments: String...) async throws -> Double {
    let began = DiscoveryProgram.now
    let program = try DiscoveryProgram(
      ["/bin/bash", "-c", "./lan.sh \"$@\"; echo status $?", "lan.sh"] + arguments,
      in: Self.folder, environment)
    let status = await program.line(within: .seconds(60)) { $0.hasPrefix("status ") }
    guard status?.text == "status 0" else {
      let said = program.lines().map(\.text).joined(separator: " ")
      throw DiscoveryFailure("lan.sh \(arguments.joined(separator: " ")): \(said)")
    }
    return began
  }

  /// Captures what passes a bridge from now on.
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
      throw DiscoveryFailure("tcpdump: \(program.lines().last?.text ?? "says nothing")")
    }
    return DiscoveryCapture(file: file, program: program)
  }
}
