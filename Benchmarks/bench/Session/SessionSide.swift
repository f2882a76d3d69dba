import Foundation

/// A process that plays one side of a measurement.
struct SessionSide: Sendable {
  private let program: ChildProgram
  private let name: String

  init(_ program: ChildProgram, _ name: String) {
    self.program = program
    self.name = name
  }

  /// Starts a side on this machine, for measurements on loopback.
  init(_ subject: SessionSubject, _ role: SessionSubject.Role, _ options: [String]) throws {
    self.init(
      try ChildProgram(subject.command(role, options), in: NetworkLab.folder, [:]),
      "\(subject.name), \(role.rawValue)")
  }

  /// Waits until the side listens or is connected. Returns the port on which it listens, or 0 if it
  /// does not.
  @discardableResult
  func ready(within limit: Duration = .seconds(20)) async throws -> UInt16 {
    let line = try await line(within: limit) { $0 == "ready" || $0.hasPrefix("ready ") }
    return line.split(separator: " ").last.flatMap { UInt16($0) } ?? 0
  }

  /// Waits until the side is done and returns its figures.
  func figures(within limit: Duration) async throws -> SessionFigures {
    _ = try await line(within: limit) { $0 == "done" }
    return SessionFigures(program.lines().map(\.text))
  }

  /// Returns the figures that the side has printed so far.
  func figuresSoFar() -> SessionFigures { SessionFigures(program.lines().map(\.text)) }

  /// Sends a line to the side, waits until it has handled the line, and returns the figures of its
  /// answer.
  func ask(_ words: String) async throws -> SessionFigures {
    let first = program.count
    program.send(words)
    guard await program.line(from: first, where: { $0 == "done" }) != nil else {
      throw BenchmarkFailure(
        "\(name) did not answer '\(words)': run the scenario again on a quiet machine")
    }
    return SessionFigures(program.lines(from: first).map(\.text))
  }

  /// Closes the side's standard input, which ends its process.
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
      throw BenchmarkFailure(
        "\(name): \(said ?? "no output in time; run again on a quiet machine")"
      )
    }
    return text
  }
}

/// The figures that the sides of a measurement printed, by name.
struct SessionFigures: Sendable {
  private(set) var values: [String: Double] = [:]

  init(_ lines: [String] = []) {
    for line in lines {
      let words = line.split(separator: " ")
      guard words.count == 3, words[0] == "figure" else { continue }
      values[String(words[1])] = Double(words[2])
    }
  }

  /// The value of a figure, or `nan` if it was not printed.
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
