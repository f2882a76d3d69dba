import CaromCore
import CaromTesting
import Foundation
import Testing

/// Random scripts against a host as a whole; libFuzzer runs the same ones with coverage.
@Suite struct HostFuzzTests {
  #if DEBUG
    static let packets = 20_000
  #else
    static let packets = 1_000_000
  #endif

  /// What libFuzzer found, and what was wrong.
  private static let found = [
    // Half a frame of a stream woke a connection that was closing again and again.
    "2yk6bFsZ6+vr6+sMb+eB//z//FsZ6+vr6+sMb+eB//z//Of/+jBA5//6+jBA5//n/w=="
  ]

  @Test(arguments: found) func `what was found stays mended`(_ script: String) throws {
    let script = try #require(Data(base64Encoded: script))
    #expect(try HostScript.run(Array(script)) > 0)
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
