import Carom
import Foundation

/// A transfer of one file between two processes, encrypted.
struct FilesMeasurement: Sendable {
  let scenario: FilesScenario
  let link: SessionCarom.Link
  /// The file to send, and the folder in which it is received.
  let file: URL
  let folder: URL
  /// The seconds for which only small messages are sent before the file.
  let idle: Int

  private static let port = 7_778

  private var subject: SessionSubject {
    SessionSubject(
      name: "Carom, \(link.protocolName)", program: SessionSubject.itself("files"),
      options: ["link=\(link.rawValue)"], roles: [.receive, .send])
  }

  /// Sends the file. Returns the sender's figures, and the receiver's with the prefix `to_`. Throws
  /// if the file that arrived differs.
  func run() async throws -> SessionFigures {
    let received = folder.appending(path: "received")
    defer { try? FileManager.default.removeItem(at: received) }
    let sending = ["path=\(file.path)", "idle=\(idle)"]
    let figures = try await Self.run(
      scenario, subject, receiving: ["folder=\(folder.path)"], sending: sending
    ) { sender, receiver in
      let limit = Duration.seconds(600)
      var figures = try await sender.figures(within: limit)
      for (name, value) in try await receiver.figures(within: limit).values {
        figures["to_\(name)"] = value
      }
      return figures
    }
    guard FileManager.default.contentsEqual(atPath: file.path, andPath: received.path) else {
      throw BenchmarkFailure("\(subject.name): the file that was received differs")
    }
    return figures
  }

  /// Returns the goodput of the kernel's TCP on the way of a scenario, in Mbit/s.
  static func measurePeer(_ scenario: FilesScenario, seconds: Int) async throws -> Double {
    try await run(
      scenario, scenario.peer, receiving: ["warm=2", "seconds=\(seconds)"], sending: ["what=bulk"]
    ) { _, receiver in
      try await receiver.figures(within: .seconds(seconds + 20))
    }["goodput"]
  }

  /// Starts both sides on the way of a scenario, and runs `body` with the sender and the receiver.
  private static func run(
    _ scenario: FilesScenario, _ subject: SessionSubject, receiving: [String], sending: [String],
    _ body: @Sendable (SessionSide, SessionSide) async throws -> SessionFigures
  ) async throws -> SessionFigures {
    guard let conditions = scenario.path else {
      return try await run("127.0.0.1", receiving, sending, body) { role, options in
        let core = role == .send ? EchoCommand.loadCore : 0
        return try SessionSide(subject, role, options + ["core=\(core)"])
      }
    }
    return try await SessionPath.with(conditions) { path in
      try await run(SessionPath.address, receiving, sending, body) { role, options in
        try path.start(subject, role, in: role == .send ? "h1" : "h2", options)
      }
    }
  }

  private static func run(
    _ address: String, _ receiving: [String], _ sending: [String],
    _ body: @Sendable (SessionSide, SessionSide) async throws -> SessionFigures,
    start: (SessionSubject.Role, [String]) throws -> SessionSide
  ) async throws -> SessionFigures {
    let receiver = try start(.receive, ["port=\(port)"] + receiving)
    var sender: SessionSide?
    let result: Result<SessionFigures, any Error>
    do {
      try await receiver.ready()
      let started = try start(.send, ["port=\(port)", "address=\(address)"] + sending)
      sender = started
      try await started.ready()
      result = .success(try await body(started, receiver))
    } catch { result = .failure(error) }
    await sender?.end()
    await receiver.end()
    return try result.get()
  }
}
