import Foundation
import Testing

/// A LAN of network namespaces for one test (`Tests/Lab/lan.sh`). Its hosts are named h1, h2 and so
/// on.
struct Lab {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Lab")

  private let environment: [String: String]

  /// Creates a LAN with `hosts` hosts, runs `body`, and removes the LAN with all of its processes.
  static func with(
    hosts: Int, environment: [String: String] = [:], _ body: (Lab) async throws -> Void
  ) async throws {
    let name = "carom\(UInt32.random(in: 0 ... .max))"
    let lab = Lab(environment: environment.merging(["LAN": name]) { $1 })
    let result: Result<Void, any Error>
    do {
      try await lab.change("up", "\(hosts)")
      result = .success(try await body(lab))
    } catch {
      result = .failure(error)
    }
    // A new task removes the LAN even if the test was cancelled because of its time limit.
    try await Task { try await lab.change("down") }.value
    try result.get()
  }

  /// Starts a program on a host.
  func start(_ host: String, _ command: String...) throws -> LabProcess {
    try script(["exec", host] + command)
  }

  /// Starts a program on a host and kills it when its input ends. SIGTERM is not used, since the
  /// program may have inherited a signal mask that blocks it.
  func startUntilInputEnds(_ host: String, _ command: String...) throws -> LabProcess {
    try script(["exec", host, "bash", "-c", "\"$@\" & read -r; kill -KILL $!", "bash"] + command)
  }

  /// Starts the peer process on a host.
  func startPeer(_ host: String, _ arguments: String...) throws -> LabProcess {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let folder = URL(fileURLWithPath: tests).deletingLastPathComponent()
    return try script(["exec", host, folder.appendingPathComponent("carom-peer").path] + arguments)
  }

  /// Starts avahi-daemon on a host, and returns when it is ready.
  func startAvahi(_ host: String) async throws {
    let daemon = try start(host, "./avahi-host.sh")
    _ = try await daemon.line(containing: "Server startup complete")
  }

  /// Publishes services from a host, all on port 7777.
  func publish(_ host: String, _ names: [String], _ type: String) throws -> LabProcess {
    let ours = try startPeer(host, "publish", names[0], type, "7777", "_chess", "seats=1/2")
    for name in names.dropFirst() { ours.send("publish\t\(name)") }
    return ours
  }

  /// Starts python-zeroconf on a host with `Tests/Lab/zc.py`, to publish ("pub") or "browse".
  func zeroconf(_ host: String, _ family: Family, _ arguments: String...) throws -> LabProcess {
    let versions = family == .both ? "all" : family.rawValue
    return try script(["exec", host, Peers.python, "zc.py"] + arguments + [versions])
  }

  /// Starts systemd-resolved on a host, optionally with a service, and returns when it is ready.
  func startResolved(_ host: String, _ folder: String, _ service: String...) async throws {
    let daemon = try script(["exec", host, "./resolved-host.sh", folder] + service)
    _ = try await daemon.line(containing: "mdns ready")
  }

  /// Runs a program on a host and returns its output. Throws if its status is not 0.
  @discardableResult
  func run(_ host: String, _ command: String...) async throws -> String {
    let line = ["exec", host, "bash", "-c", "\"$@\"; echo; echo status $?", "bash"] + command
    let process = try script(line)
    let status = try await process.line(containing: "status ")
    try #require(status == "status 0", "\(command): \(process.transcript)")
    return process.transcript
  }

  /// Changes the LAN with a command of the script, such as "cut h1". The script's end is detected
  /// by a line that it prints, since processes that it leaves running keep its pipes open.
  func change(_ arguments: String...) async throws {
    let command = ["-c", "./lan.sh \"$@\"; echo status $?", "lan.sh"] + arguments
    let shell = URL(fileURLWithPath: "/bin/bash")
    let process = try LabProcess(shell, command, in: Self.folder, environment)
    let status = try await process.line(containing: "status ")
    try #require(status == "status 0", "\(arguments): \(process.transcript)")
  }

  private func script(_ arguments: [String]) throws -> LabProcess {
    try LabProcess(
      Self.folder.appendingPathComponent("lan.sh"), arguments, in: Self.folder, environment)
  }
}

/// The other implementations that are available on this machine.
enum Peers {
  static let lab = geteuid() == 0 && has("ip") && has("unshare")
  static let labIsNeeded: Comment = "needs root and iproute2"
  static let avahi = lab && has("avahi-daemon") && has("avahi-browse") && has("dbus-daemon")
  static let avahiIsNeeded: Comment =
    "needs root, iproute2, avahi-daemon, avahi-utils and dbus: .ci/setup test"
  static let zeroconfIsNeeded: Comment = "needs root, iproute2 and python-zeroconf"
  static let resolvedIsNeeded: Comment =
    "needs root, iproute2, tcpdump, dbus and systemd-resolved where .ci/setup test unpacks it"
  static let zeroconf = lab && runs([python, "-c", "import zeroconf"])

  /// The system's own Python, which has the packages that `.ci/setup test` installs. Another Python
  /// that comes first in the PATH does not.
  static let python = "/usr/bin/python3"

  /// The folder that contains systemd-resolved; nil if it is missing.
  static let resolved: String? = {
    let environment = ProcessInfo.processInfo.environment
    let cache = environment["XDG_CACHE_HOME"] ?? "\(environment["HOME"] ?? "")/.cache"
    let folder = "\(cache)/carom/systemd-resolved"
    let daemon = "\(folder)/lib/systemd/systemd-resolved"
    let isThere =
      lab && has("dbus-daemon") && has("tcpdump")
      && FileManager.default.isExecutableFile(atPath: daemon)
    return isThere ? folder : nil
  }()

  static func has(_ program: String) -> Bool {
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/bin"].contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
    }
  }

  static func runs(_ command: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardError = FileHandle.nullDevice
    // `waitUntilExit` runs the thread's run loop, which can miss the end if several threads wait.
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    guard (try? process.run()) != nil else { return false }
    ended.wait()
    return process.terminationStatus == 0
  }
}
