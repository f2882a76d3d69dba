import Foundation

/// A side of a measurement while it runs.
struct SessionSide: Sendable {
  private let program: DiscoveryProgram
  private let name: String

  init(_ program: DiscoveryProgram, _ name: String) {
    self.program = program
    self.name = name
  }

  /// Starts one on this machine, for loopback.
  init(_ subject: SessionSubject, _ role: SessionSubject.Role, _ options: [String]) throws {
    self.init(
      try DiscoveryProgram(subject.command(role, options), in: DiscoveryLab.folder, [:]),
      "\(subject.name), \(role.rawValue)")
  }

  /// Waits until it listens or is connected; the port where it listens, 0 where it does not.
  @discardableResult
  func ready(within limit: Duration = .seconds(20)) async throws -> UInt16 {
    let line = try await line(within: limit) { $0 == "ready" || $0.hasPrefix("ready ") }
    return line.split(separator: " ").last.flatMap { UInt16($0) } ?? 0
  }

  /// Waits until it is done; its figures.
  func figures(within limit: Duration) async throws -> SessionFigures {
    _ = try await line(within: limit) { $0 == "done" }
    return SessionFigures(program.lines().map(\.text))
  }

  /// The figures that it has told so far.
  func figuresSoFar() -> SessionFigures { SessionFigures(program.lines().map(\.text)) }

  /// Says a line to it and waits until that is done; what it answered.
  func ask(_ words: String) async throws -> SessionFigures {
    let first = program.count
    program.say(words)
    guard await program.line(from: first, where: { $0 == "done" }) != nil else {
      throw DiscoveryFailure("\(name) does not answer to \(words)")
    }
    return SessionFigures(program.lines(from: first).map(\.text))
  }

  /// Ends its input, and so it.
  func end() async {
    program.endInput()
    await program.end()
  }

  private func line(
    within limit: Duration, where matches: @escaping @Sendable (String) -> Bool
  ) async throws -> String {
    let line = await program.line(within: limit) { matches($0) || $0.hasPrefix("failed") }
    guard let text = line?.text, !text.hasPrefix("failed") else {
      let said = program.lines().last { !$0.text.hasPrefix("figure") }?.text
      throw DiscoveryFailure("\(name): \(said ?? "says nothing")")
    }
    return text
  }
}

/// What the sides of a measurement told, by name.
struct SessionFigures: Sendable {
  private(set) var values: [String: Double] = [:]

  init(_ lines: [String] = []) {
    for line in lines {
      let words = line.split(separator: " ")
      guard words.count == 3, words[0] == "figure" else { continue }
      values[String(words[1])] = Double(words[2])
    }
  }

  /// A figure; `nan` where it was not told.
  subscript(name: String) -> Double {
    get { values[name] ?? .nan }
    set { values[name] = newValue }
  }

  func merging(_ others: SessionFigures) -> SessionFigures {
    var all = self
    all.values.merge(others.values) { $1 }
    return all
  }
}
