import CaromCore
import CaromTesting
import Foundation
import Testing

/// Runs scripts of random bytes between two associations. The libFuzzer target `SCTPFuzz` runs the
/// same scripts with coverage feedback.
@Suite struct SCTPFuzzTests {
  #if DEBUG
    private static let inputs = 3_000
  #else
    private static let inputs = 100_000
  #endif

  /// Most packets of the first steps are delivered, so that most scripts get past the handshake.
  private static func makeScript(_ generator: inout SeededGenerator) -> [UInt8] {
    let handshake: [UInt8] = generator.chance(0.9) ? [8, 0, 8, 0, 8, 0] : []
    let length = Int.random(in: 20...400, using: &generator)
    return handshake + (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }

  @Test func `both sides stay within their bounds however their packets are changed`() throws {
    var count = 0
    let replay = ProcessInfo.processInfo.environment["CAROM_SEED"]
    try Seeds(Self.inputs, replay: replay).check { seed in
      var generator = SeededGenerator(seed: seed)
      count += try SCTPScript.run(Self.makeScript(&generator))
    }
    #expect(count > Self.inputs || replay != nil)
  }
}
