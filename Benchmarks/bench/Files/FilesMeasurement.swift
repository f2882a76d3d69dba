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
    let figures: SessionFigures
    if let conditions = scenario.path {
      figures = try await SessionPath.with(conditions) { path in
        try await run(SessionPath.address) { role, options in
          try path.start(subject, role, in: role == .send ? "h1" : "h2", options)
        }
      }
    } else {
      figures = try await run("127.0.0.1") { role, options in
        let core = role == .send ? EchoCommand.loadCore : 0
        return try SessionSide(subject, role, options + ["core=\(core)"])
      }
    }
    guard FileManager.default.contentsEqual(atPath: file.path, andPath: received.path) else {
      throw BenchmarkFailure("\(subject.name): the file that was received differs")
    }
    return figures
  }

  private func run(
    _ address: String, _ start: (SessionSubject.Role, [String]) throws -> SessionSide
  ) async throws -> SessionFigures {
    let receiver = try start(.receive, ["port=\(Self.port)", "folder=\(folder.path)"])
    do {
      try await receiver.ready()
      let sender = try start(
        .send, ["port=\(Self.port)", "address=\(address)", "path=\(file.path)", "idle=\(idle)"])
      let limit = Duration.seconds(600)
      var figures = try await sender.figures(within: limit)
      for (name, value) in try await receiver.figures(within: limit).values {
        figures["to_\(name)"] = value
      }
      await sender.end()
      await receiver.end()
      return figures
    } catch {
      await receiver.end()
      throw error
    }
  }

  /// Returns the goodput of the kernel's TCP on the way of a scenario, in Mbit/s.
  static func measurePeer(_ scenario: FilesScenario, seconds: Int) async throws -> Double {
    let subject = scenario.peer
    let times = ["port=\(port)", "warm=2", "seconds=\(seconds)"]
    func run(
      _ address: String, _ start: (SessionSubject.Role, [String]) throws -> SessionSide
    ) async throws -> Double {
      let receiver = try start(.receive, times)
      try await receiver.ready()
      let sender = try start(.send, ["port=\(port)", "address=\(address)", "what=bulk"])
      try await sender.ready()
      let figures = try await receiver.figures(within: .seconds(seconds + 20))
      await sender.end()
      await receiver.end()
      return figures["goodput"]
    }
    guard let conditions = scenario.path else {
      return try await run("127.0.0.1") { role, options in
        let core = role == .send ? EchoCommand.loadCore : 0
        return try SessionSide(subject, role, options + ["core=\(core)"])
      }
    }
    return try await SessionPath.with(conditions) { path in
      try await run(SessionPath.address) { role, options in
        try path.start(subject, role, in: role == .send ? "h1" : "h2", options)
      }
    }
  }
}
