import CaromCore
import CaromTesting
import Foundation
import Testing

/// A node keeps its invariants and never traps, whatever it receives and in whatever order.
@Suite struct MachineFuzzTests {
  #if DEBUG
    static let inputs = 20
    /// Debug builds run one of this many inputs of the corpus.
    static let corpusStride = 16
  #else
    /// `make fuzz` runs more of them.
    static let inputs = 6_250
    static let corpusStride = 1
  #endif
  /// The number of parallel parts that the inputs are split into.
  static let parts = 4

  /// A fixture that cannot be used.
  private struct FixtureError: Error, CustomStringConvertible {
    let description: String
  }

  /// The fixture's inputs, or the error with which reading them failed.
  private static let corpus = Result { try readCorpus() }

  private static func readCorpus() throws -> [[UInt8]] {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let file = tests.appendingPathComponent("Fixtures/fuzz/machine.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    return try lines.enumerated().map { index, line in
      try bytes(of: line, line: index + 1)
    }
  }

  /// The bytes of a line of hexadecimal digits.
  private static func bytes(of text: Substring, line: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text
    while !rest.isEmpty {
      guard rest.count >= 2, let byte = UInt8(rest.prefix(2), radix: 16) else {
        throw FixtureError(
          description: "machine.txt, line \(line): not pairs of hexadecimal digits")
      }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  private static func run(_ input: [UInt8]) throws {
    var script = MachineScript(input)
    try script.run()
  }

  @Test func `inputs that once revealed a fault pass`() throws {
    let corpus = try Self.corpus.get()
    #expect(corpus.count > 100)
    for index in stride(from: 0, to: corpus.count, by: Self.corpusStride) {
      try Self.run(corpus[index])
    }
  }

  @Test(arguments: 0..<parts)
  func `random packets, time steps, links and requests violate no invariant`(part: Int) throws {
    let replay = ProcessInfo.processInfo.environment["CAROM_SEED"]
    let corpus = try Self.corpus.get()
    let first = UInt64(part * Self.inputs)
    try Seeds(Self.inputs, from: first, replay: replay).check { seed in
      var generator = SeededGenerator(seed: seed)
      try Self.run(Self.makeInput(from: corpus, using: &generator))
    }
  }

  /// A mutated or combined input of the corpus, or random bytes.
  private static func makeInput(
    from corpus: [[UInt8]], using generator: inout SeededGenerator
  ) -> [UInt8] {
    let length = Int.random(in: 20...(generator.chance(0.1) ? 400 : 60), using: &generator)
    guard let base = corpus.randomElement(using: &generator), generator.chance(0.8) else {
      return (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
    var bytes = base
    if generator.chance(0.3), let other = corpus.randomElement(using: &generator) {
      bytes = Array(base.prefix(base.count / 2)) + other.suffix(other.count / 2)
    }
    for _ in 0..<Int.random(in: 1...8, using: &generator) where !bytes.isEmpty {
      let offset = Int.random(in: bytes.indices, using: &generator)
      bytes[offset] = UInt8(truncatingIfNeeded: generator.next())
    }
    return bytes
  }
}
