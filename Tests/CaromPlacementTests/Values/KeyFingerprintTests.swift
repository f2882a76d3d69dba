import CaromCore
import CaromCrypto
import Testing

@testable import CaromPlacement

@Suite struct KeyFingerprintTests {
  private static func key(_ number: UInt64) -> BackendKey {
    var generator = SeededGenerator(seed: number)
    return BackendKey(using: &generator)
  }

  @Test func `equal keys have equal fingerprints, and other keys have others`() {
    let fingerprints = Set((0..<100).map { Self.key($0).fingerprint })
    #expect(fingerprints.count == 100)
    #expect(fingerprints.contains(Self.key(7).fingerprint))
  }

  @Test func `a fingerprint is not a part of the key, and comes back from its text`() throws {
    let key = Self.key(1)
    let text = key.fingerprint.description
    #expect(text.utf8.count == 16)
    #expect(!String(decoding: key.hexadecimal.reveal(), as: UTF8.self).contains(text))
    #expect(KeyFingerprint(text) == key.fingerprint)
    let short = try #require(KeyFingerprint("00000000000000ff"))
    #expect(short.description == "00000000000000ff")
    for wrong in ["", "ff", text.uppercased() + "0", "+000000000000001", "00000000000000FF"] {
      #expect(KeyFingerprint(wrong) == nil)
    }
  }
}
