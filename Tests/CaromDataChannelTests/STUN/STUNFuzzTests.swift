import CaromCore
import CaromTesting
import Foundation
import Testing

@testable import CaromDataChannel

/// Changed messages are read or refused. The libFuzzer target `STUNFuzz` reads random ones, with
/// coverage feedback.
@Suite struct STUNFuzzTests {
  #if DEBUG
    private static let inputs = 20_000
  #else
    private static let inputs = 500_000
  #endif
  private static let vectors = [
    STUNVectors.request, STUNVectors.response4, STUNVectors.response6,
  ]

  /// A vector with changed bytes, and often with the fingerprint and the length that it then needs.
  private static func makeMessage(_ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = vectors[Int(generator.next() % 3)]
    for _ in 0..<1 + generator.next() % 4 {
      bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(
        truncatingIfNeeded: generator.next())
    }
    if generator.chance(0.3) { bytes.removeLast(Int(generator.next() % UInt64(bytes.count))) }
    guard generator.chance(0.8), bytes.count >= 28 else { return bytes }
    bytes.overwriteBigEndian(UInt16(bytes.count - 20), at: 2)
    bytes.removeLast(4)
    bytes.appendBigEndian(
      CRC32.ethernet.checksum(of: bytes.span.extracting(0..<bytes.count - 4)) ^ 0x5354_554E)
    return bytes
  }

  @Test func `changed messages are read or refused, and only whole ones are answered`() throws {
    var (read, accepted) = (0, 0)
    let replay = ProcessInfo.processInfo.environment["CAROM_SEED"]
    try Seeds(Self.inputs, replay: replay).check { seed in
      var generator = SeededGenerator(seed: seed)
      let bytes = Self.makeMessage(&generator)
      if (try? STUNMessage(bytes.span)) != nil { read += 1 }
      var responder = CheckResponder()
      let answer = responder.answer(
        bytes.span, from: Endpoint(.loopback4, port: 1)
      ) { _ in STUNVectors.password }
      guard answer != .dropped else { return }
      accepted += 1
      // Whatever was changed lies outside of what the integrity protects.
      let count = STUNVectors.request.count - 32
      #expect(bytes[4..<count].elementsEqual(STUNVectors.request[4..<count]))
    }
    #expect(read > Self.inputs / 10 && accepted < Self.inputs / 4 || replay != nil)
  }
}
