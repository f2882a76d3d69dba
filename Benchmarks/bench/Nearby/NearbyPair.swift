import Carom
import Foundation

/// One peer in a process of its own that is connected with many others, and does nothing.
///
/// The others run in a second process, and are not connected with each other: the work of a whole
/// mesh grows with the square of its size, and one computer stands for all of them.
struct NearbyPair: Sendable {
  /// The CPU time of the peer, as a part of a core.
  var processor = 0.0
  /// The memory of one of its connections after the first, in bytes.
  var memory = 0.0

  /// Measures a peer of a mesh of `count` peers for `seconds`.
  static func measure(_ count: Int, seconds: Int) async throws -> NearbyPair {
    let others = ["--others", "\(count - 1)"]
    let peer = try start(["measured", "\(seconds)"] + others)
    defer { peer.endInput() }
    let words = try await line("listening", of: peer, within: .seconds(20))
    let rest = try start(["others", words[1], words[2]] + others)
    defer { rest.endInput() }
    _ = try await line("first", of: peer, within: .seconds(20))
    rest.send("all")
    let figures = try await line("figures", of: peer, within: .seconds(60 + seconds))
    rest.endInput()
    await rest.end()
    await peer.end()
    let numbers = figures.dropFirst().compactMap(Double.init)
    guard numbers.count == 2 else { throw BenchmarkFailure("the peer printed \(figures)") }
    return NearbyPair(processor: numbers[0], memory: numbers[1])
  }

  /// Each process has one malloc arena. With several, the first allocation of a further thread
  /// would count as 132 kB more for the connections.
  private static func start(_ arguments: [String]) throws -> ChildProgram {
    try ChildProgram(
      [CommandLine.arguments[0], "nearby-peer"] + arguments, in: NetworkLab.folder,
      ["MALLOC_ARENA_MAX": "1"])
  }

  /// Waits for the line that begins with a word, and returns all of its words.
  private static func line(
    _ first: String, of program: ChildProgram, within limit: Duration
  ) async throws -> [String] {
    let line = await program.line(within: limit) { $0.split(separator: " ").first == first[...] }
    guard let line else {
      throw BenchmarkFailure(
        "the process with peers did not print '\(first)': \(program.lines().map(\.text))")
    }
    return line.text.split(separator: " ").map(String.init)
  }
}
