import CaromCore
import CaromTesting
import Foundation
import Testing

/// Runs scripts of random bytes against a whole host. The libFuzzer target `HostFuzz` runs the same
/// scripts with coverage feedback.
@Suite struct HostFuzzTests {
  #if DEBUG
    static let packets = 20_000
    /// Every how many inputs of the corpus one is run.
    private static let corpusStride = 16
  #else
    static let packets = 1_000_000
    private static let corpusStride = 1
  #endif

  private static let corpus = Result { try loadCorpus() }

  private struct CorpusError: Error, CustomStringConvertible {
    let description: String
  }

  /// Reads the inputs that libFuzzer kept because each covered new code, a line of hexadecimal
  /// digits each, and appends the ones that once exposed a bug.
  private static func loadCorpus() throws -> [[UInt8]] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
        "Fixtures/fuzz/host.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    return try (lines + regressions.map { $0[...] }).map(parseHexadecimal)
  }

  private static let regressions = [
    // Half a frame on a stream woke a connection that was closing again and again.
    "db293a6c5b19ebebebebeb0c6fe781fffcfffc5b19ebebebebeb"
      + "0c6fe781fffcfffce7fffa3040e7fffafa3040e7ffe7ff",
    // The window grew between a message's reading and its return to the connection.
    "290000000ccdcceaeb800800000ccdcceaeb800880d7f70229cf04000000cf2c"
      + "80d7f70229cf04000000cf2c05dbff21",
  ]

  private static func parseHexadecimal(_ line: Substring) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = line
    while rest.count >= 2, let byte = UInt8(rest.prefix(2), radix: 16) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    guard rest.isEmpty else {
      throw CorpusError(description: "the corpus has a line that is not hexadecimal: \(rest)")
    }
    return bytes
  }

  @Test func `inputs that once exposed a bug or new code run without a fault`() throws {
    let corpus = try Self.corpus.get()
    #expect(corpus.count > 900)
    for number in stride(from: corpus.count - 1, through: 0, by: -Self.corpusStride) {
      _ = try HostScript.run(corpus[number])
    }
  }

  @Test(arguments: ScriptSecurity.allCases)
  func `both sides stay within their bounds however their packets are changed`(
    _ security: ScriptSecurity
  ) throws {
    let environment = ProcessInfo.processInfo.environment
    // Most changed packets of an encrypted connection go no further than their tag.
    let limit = security == .none ? Self.packets : Self.packets / 4
    var packets = 0
    var seed: UInt64 = 0
    while packets < limit {
      try Seeds(1, from: seed, replay: environment["CAROM_SEED"]).check { seed in
        var generator = SeededGenerator(seed: seed)
        let length = Int.random(in: 50...2_000, using: &generator)
        packets += try HostScript.run(
          (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) }, security)
      }
      seed += 1
    }
  }
}
