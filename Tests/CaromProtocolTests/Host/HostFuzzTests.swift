import CaromCore
import CaromTesting
import Foundation
import Testing

/// Random scripts against a host as a whole; libFuzzer runs the same ones with coverage.
@Suite struct HostFuzzTests {
  #if DEBUG
    static let packets = 20_000
    private static let step = 16  // inputs of the corpus
  #else
    static let packets = 1_000_000
    private static let step = 1
  #endif

  /// Inputs of libFuzzer, each of which went where none had gone before, a line of hexadecimal
  /// digits each; and what it found, with what was wrong.
  private static let corpus: [[UInt8]] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
        "Fixtures/fuzz/host.txt")
    let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.map(bytes) + found.map { bytes($0[...]) }
  }()

  private static let found = [
    // Half a frame of a stream woke a connection that was closing again and again.
    "db293a6c5b19ebebebebeb0c6fe781fffcfffc5b19ebebebebeb"
      + "0c6fe781fffcfffce7fffa3040e7fffafa3040e7ffe7ff"
  ]

  private static func bytes(_ line: Substring) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = line
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  @Test func `inputs that found something once find nothing now`() throws {
    #expect(Self.corpus.count > 900)
    for number in stride(from: Self.corpus.count - 1, through: 0, by: -Self.step) {
      _ = try HostScript.run(Self.corpus[number])
    }
  }

  @Test func `whatever is done to what is on the way, both sides keep their bounds`() throws {
    let environment = ProcessInfo.processInfo.environment
    var packets = 0
    var seed: UInt64 = 0
    while packets < Self.packets {
      try Seeds(1, from: seed, replay: environment["CAROM_SEED"]).check { seed in
        var generator = SeededGenerator(seed: seed)
        let length = Int.random(in: 50...2_000, using: &generator)
        packets += try HostScript.run(
          (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
      }
      seed += 1
    }
  }
}
