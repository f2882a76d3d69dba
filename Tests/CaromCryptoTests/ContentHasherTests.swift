import CaromCrypto
import Testing

@Suite struct ContentHasherTests {
  /// The hash of nothing and that of "abc", as computed by `b2sum -l 256`.
  @Test(arguments: [
    ("", "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"),
    ("abc", "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"),
  ])
  func `hashes are those of other implementations`(text: String, hash: String) {
    let hasher = ContentHasher()
    hasher.update(Array(text.utf8))
    let digits = hasher.finish().map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
    #expect(digits.joined() == hash)
  }

  @Test func `the parts of the content do not matter`() {
    let content = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
    let whole = ContentHasher()
    whole.update(content)
    let parts = ContentHasher()
    for start in stride(from: 0, to: 1_000, by: 7) {
      parts.update(Array(content[start..<min(start + 7, 1_000)]))
    }
    parts.update([])
    #expect(whole.finish() == parts.finish())
  }
}
