import CaromCore
import CaromFleet
import CaromPlacement
import CaromTransport
import Foundation
import Testing

/// A Redis server on loopback for one test, which keeps everything in memory.
struct RedisServer {
  static let path = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/opt/homebrew/bin"]
    .map { $0 + "/redis-server" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  static let need: Comment = "redis-server is not installed"

  let endpoint: Endpoint
  private let process = Process()
  private let input = RedisServer.makePipe()

  /// Starts a server, runs `body` on the thread of a connection to it, and ends the server.
  static func with(
    _ body: @escaping @Sendable (RedisConnection) async throws -> Void
  ) async throws {
    try await withNetworkLoop { loop in
      let server = try RedisServer(port: try await PortFinder(on: loop).find())
      let result = await Task(executorPreference: loop) { [endpoint = server.endpoint] in
        let connection = try await RedisConnection.open(to: [endpoint], on: loop)
        try await body(connection)
        await connection.close()
      }.result
      server.end()
      try result.get()
    }
  }

  /// A pipe that processes do not inherit, unless it is theirs.
  private static func makePipe() -> Pipe {
    let pipe = Pipe()
    for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
      _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    return pipe
  }

  private init(port: UInt16) throws {
    endpoint = Endpoint(.loopback4, port: port)
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("carom-redis-\(UInt32.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // The shell kills the server when standard input ends, so that the server does not outlive this
    // process. It uses SIGKILL because the server inherits a mask that blocks other signals.
    let line = "\"$@\" & read -r; kill -KILL $!; wait $!; rmdir \"$FOLDER\""
    let output = Self.makePipe()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = [
      "-c", line, "bash", Self.path ?? "redis-server", "--port", "\(port)", "--bind", "127.0.0.1",
      "--save", "", "--appendonly", "no", "--dir", folder.path,
    ]
    process.environment = ["FOLDER": folder.path, "PATH": "/usr/bin:/bin"]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    var text = ""
    while !text.contains("Ready to accept connections") {
      let data = output.fileHandleForReading.availableData
      try #require(!data.isEmpty, "the server has ended: \(text)")
      text += String(decoding: data, as: UTF8.self)
    }
  }

  private func end() {
    input.fileHandleForWriting.closeFile()
    process.waitUntilExit()
  }
}

/// Finds a port that is free for TCP.
private actor PortFinder: LoopActor {
  nonisolated let loop: NetworkLoop

  init(on loop: NetworkLoop) { self.loop = loop }

  func find() throws -> UInt16 {
    let listener = try TCPListener(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
      _, _ in
    }
    defer { listener.close() }
    return listener.localEndpoint.port
  }
}
