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
