import CaromCore
import Foundation
import Synchronization

/// A Redis server on loopback for one test, which keeps everything in memory. The test can stop it,
/// after which it has forgotten everything, and start it again on the same port.
public final class RedisServer: Sendable {
  /// The reasons why there is no server.
  public enum Failure: Error {
    /// The server has ended at once, after it wrote this.
    case ended(output: String)
  }

  /// The server's program; nil if it is not installed.
  public static let path = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/opt/homebrew/bin"]
    .map { $0 + "/redis-server" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  /// Why tests are skipped.
  public static let need = "redis-server is not installed"
  /// Ports that the system gives to nobody who asks for any free one, so that nobody takes the port
  /// of a server that was stopped.
  private static let ports = UInt16(20_000)...29_999
  private static let attempts = 20

  /// Where the server is.
  public let endpoint: Endpoint
  /// Whether the server's port is one for TLS.
  private let isEncrypted: Bool
  private let options: [String]
  private let run: Mutex<RedisRun?>

  /// Starts a server with these further options, runs `body`, and ends the server.
  public static func with<Value>(
    _ options: String..., body: (RedisServer) async throws -> Value
  ) async throws -> Value {
    let server = try RedisServer(options)
    defer { server.stop() }
    return try await body(server)
  }

  /// Starts a server with these further options. With `isEncrypted`, it speaks TLS alone, and the
  /// options must name the files for it.
  public init(_ options: [String], isEncrypted: Bool = false) throws {
    // A second `--port` replaces the first one.
    let options = isEncrypted ? ["--tls-port", "PORT", "--port", "0"] + options : options
    let (port, run) = try Self.start(options)
    self.isEncrypted = isEncrypted
    self.options = options
    self.run = Mutex(run)
    endpoint = Endpoint(.loopback4, port: port)
  }

  private static func start(_ options: [String]) throws -> (port: UInt16, run: RedisRun) {
    var attempt = 1
    while true {
      let port = UInt16.random(in: ports)
      do { return (port, try RedisRun(port: port, options)) } catch {
        // Another program may have the port.
        guard attempt < attempts else { throw error }
        attempt += 1
      }
    }
  }

  /// The address of a fleet on the server; `login` is what stands before the host. The host of a
  /// server with TLS is "localhost".
  public func fleet(_ name: String = "test", login: String = "") -> String {
    isEncrypted
      ? "rediss://\(login)localhost:\(endpoint.port)/\(name)"
      : "redis://\(login)\(endpoint)/\(name)"
  }

  /// Ends the server at once.
  public func stop() {
    run.withLock { run in
      run?.end()
      run = nil
    }
  }

  /// Starts the server again, after `stop`. It knows nothing.
  public func start() throws {
    try run.withLock { $0 = try RedisRun(port: endpoint.port, options) }
  }
}

/// One process of a server.
private struct RedisRun {
  private let process = Process()
  private let input = Self.makePipe()
  private let output = Self.makePipe()

  init(port: UInt16, _ options: [String]) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("carom-redis-\(UInt32.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // The shell kills the server when standard input ends, so that the server does not outlive this
    // process. It uses SIGKILL because the server inherits a mask that blocks other signals.
    // It closes its own outputs, so that the pipe ends when the server does.
    let line =
      "\"$@\" & exec >&- 2>&-; read -r; kill -KILL $!; wait $!; rmdir \"$FOLDER\""
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments =
      [
        "-c", line, "bash", RedisServer.path ?? "redis-server", "--port", "\(port)", "--bind",
        "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder.path,
      ] + options.map { $0 == "PORT" ? "\(port)" : $0 }
    process.environment = ["FOLDER": folder.path, "PATH": "/usr/bin:/bin"]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    var text = ""
    while !text.contains("Ready to accept connections") {
      let data = output.fileHandleForReading.availableData
      text += String(decoding: data, as: UTF8.self)
      if data.isEmpty {
        end()
        throw RedisServer.Failure.ended(output: text)
      }
    }
  }

  func end() {
    input.fileHandleForWriting.closeFile()
    process.waitUntilExit()
  }

  /// A pipe that processes do not inherit, unless it is theirs.
  private static func makePipe() -> Pipe {
    let pipe = Pipe()
    for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
      _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    return pipe
  }
}
