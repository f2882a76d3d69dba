import CaromCore
import CaromDiscovery
import CaromTransport
import Foundation
import Testing

/// BIND on loopback for one test, with the zone play.example, which the key in `keyFile` may change
/// (`Tests/Lab/wide/named-lab.sh`).
struct NameServer: Sendable {
  static let domain = "play.example"
  private static let lab = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Lab/wide")

  let endpoint: Endpoint
  let folder: URL
  private let process: LabProcess

  /// The path of the file with the zone's key.
  var keyFile: String { folder.appendingPathComponent("key.conf").path }
  /// The server as `--server` takes it.
  var address: String { "127.0.0.1:\(endpoint.port)" }

  /// The path of a folder for a server, which does not exist yet. It is in memory if possible: a
  /// server answers an update once its journal is on the disk, which takes seconds on a disk that
  /// others use.
  static func newFolder() -> URL {
    let memory = "/dev/shm"
    let isWritable = FileManager.default.isWritableFile(atPath: memory)
    return (isWritable ? URL(filePath: memory) : FileManager.default.temporaryDirectory)
      .appendingPathComponent("carom-named-\(UInt32.random(in: 0 ... .max))")
  }

  /// Starts a server, runs `body`, and ends the server.
  static func with(_ body: (NameServer) async throws -> Void) async throws {
    let folder = newFolder()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let server = try await NameServer(in: folder)
    let result: Result<Void, any Error>
    do { result = .success(try await body(server)) } catch { result = .failure(error) }
    try await server.end()
    try result.get()
  }

  /// Ends the server and removes its folder. Returns when that is done.
  func end() async throws {
    guard !process.transcript.hasSuffix("ended") else { return }
    process.endInput()
    _ = try await process.line(containing: "ended")
  }

  private init(in folder: URL) async throws {
    self.folder = folder
    // The port is free for UDP and TCP at this moment.
    let port = try await withNetworkLoop { loop in try await Ports(on: loop).findFree() }
    endpoint = Endpoint(.loopback4, port: port)
    // The server ends when its input does, so that it does not outlive this process.
    let line = "\"$@\" & read -r; kill $!; wait $!; rm -r \"$2\"; echo ended"
    process = try LabProcess(
      URL(fileURLWithPath: "/bin/bash"),
      ["-c", line, "bash", "./named-lab.sh", folder.path, "127.0.0.1", "\(port)"], in: Self.lab,
      ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
    _ = try await process.line(containing: "running")
    try await withNetworkLoop { [endpoint] loop in
      try await Ports(on: loop).waitForListener(at: endpoint)
    }
  }

  /// Starts a program that ends with SIGKILL when its input ends.
  func start(_ program: String, _ arguments: [String]) throws -> LabProcess {
    try LabProcess(
      URL(fileURLWithPath: "/bin/bash"),
      ["-c", "\"$@\" & read -r; kill -KILL $!", "bash", program] + arguments, in: Self.lab, [:])
  }

  /// Runs a program to its end and returns its output. Throws if its status is not 0.
  @discardableResult
  func run(_ program: String, _ arguments: [String]) async throws -> [String] {
    let process = try LabProcess(
      URL(fileURLWithPath: "/bin/bash"),
      ["-c", "\"$@\"; end=$?; echo; echo status $end", "bash", program] + arguments, in: Self.lab,
      [:])
    let status = try await process.line(containing: "status ")
    try #require(status == "status 0", "\(program) \(arguments): \(process.transcript)")
    return process.transcript.split(separator: "\n").dropLast().map(String.init)
  }

  /// Asks the server with dig, and returns the data of the records.
  func dig(_ name: String, _ type: String) async throws -> [String] {
    try await run(
      "dig", ["+short", "+tcp", "@127.0.0.1", "-p", "\(endpoint.port)", name, type])
  }

  /// Reads the whole zone with dnspython: each record's name, type and data on a line.
  func zone() async throws -> [String] {
    try await run(Peers.python, ["zone.py", "127.0.0.1", "\(endpoint.port)", keyFile])
  }
}

private actor Ports: LoopActor {
  nonisolated let loop: NetworkLoop

  init(on loop: NetworkLoop) { self.loop = loop }

  /// Finds a port that is free for UDP and for TCP.
  func findFree() throws -> UInt16 {
    while true {
      let listener = try TCPListener(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
        _, _ in
      }
      defer { listener.close() }
      guard
        let socket = try? UDPSocket(
          on: loop, owner: self, bind: listener.localEndpoint, { _, _ in })
      else { continue }
      socket.close()
      return listener.localEndpoint.port
    }
  }

  /// Returns when a server listens. BIND says that it runs before it listens for TCP, and tells
  /// nothing after that.
  func waitForListener(at endpoint: Endpoint) async throws {
    while true {
      do throws(TransportError) {
        return try await TCPStream.connect(to: [endpoint], on: loop).close()
      } catch .connectionRefused {
        try await loop.sleep(until: loop.now + .milliseconds(10))
      }
    }
  }
}
