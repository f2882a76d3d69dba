import CaromCore
import CaromTesting
import Foundation
import Testing

/// Whatever comes in, in whatever order, a node keeps its rules and never traps.
@Suite struct MachineFuzzTests {
  #if DEBUG
    static let inputs = 20
    /// Of the corpus, one of so many is run.
    static let corpusStride = 16
  #else
    /// More of them by `make fuzz`.
    static let inputs = 6_250
    static let corpusStride = 1
  #endif
  /// Parts of the inputs, so that every core has some.
  static let parts = 4

  private static let corpus: [[UInt8]] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
        "Fixtures/fuzz/machine.txt")
    let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.map { line in
      var bytes: [UInt8] = []
      var rest = line[...]
      while let byte = UInt8(rest.prefix(2), radix: 16) {
        bytes.append(byte)
        rest = rest.dropFirst(2)
      }
      return bytes
    }
  }()

  private static func run(_ input: [UInt8]) throws {
    var script = MachineScript(input)
    try script.run()
  }

  @Test func `inputs that found something once find nothing now`() throws {
    #expect(Self.corpus.count > 100)
    for index in stride(from: 0, to: Self.corpus.count, by: Self.corpusStride) {
      try Self.run(Self.corpus[index])
    }
  }

  @Test(arguments: 0..<parts)
  func `packets, time, links and wishes in any order break no rule`(part: Int) throws {
    let replay = ProcessInfo.processInfo.environment["CAROM_SEED"]
    let first = UInt64(part * Self.inputs)
    try Seeds(Self.inputs, from: first, replay: replay).check { seed in
      var generator = SeededGenerator(seed: seed)
      try Self.run(Self.makeInput(using: &generator))
    }
  }

  /// An input of the corpus with mistakes, or with another's end; or chance alone.
  private static func makeInput(using generator: inout SeededGenerator) -> [UInt8] {
    let length = Int.random(in: 20...(generator.chance(0.1) ? 400 : 60), using: &generator)
    guard let base = corpus.randomElement(using: &generator), generator.chance(0.8) else {
      return (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
    var bytes = base
    if generator.chance(0.3), let other = corpus.randomElement(using: &generator) {
      bytes = Array(base.prefix(base.count / 2)) + other.suffix(other.count / 2)
    }
    for _ in 0..<Int.random(in: 1...8, using: &generator) where !bytes.isEmpty {
      let place = Int.random(in: bytes.indices, using: &generator)
      bytes[place] = UInt8(truncatingIfNeeded: generator.next())
    }
    return bytes
  }
}
