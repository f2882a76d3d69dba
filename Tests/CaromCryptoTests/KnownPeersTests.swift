import CaromCore
import Testing

@testable import CaromCrypto

/// The list of the peers that were met before: what it says about a key, and how it is stored.
struct KnownPeersTests {
  private func makeKey(_ byte: UInt8) -> PublicKey {
    PublicKey([UInt8](repeating: byte, count: 32).span)!
  }

  private func line(_ byte: UInt8, _ name: String) -> String { "\(makeKey(byte)) \(name)\n" }

  private func decode(_ text: String) throws(KnownPeersError) -> KnownPeers {
    try KnownPeers(decoding: Array(text.utf8))
  }

  @Test func `a new name is the application's choice, and a known one has to have its key`() throws
  {
    var peers = KnownPeers()
    #expect(try peers.check("Maya", makeKey(1)) == .new)
    #expect(peers.count == 0)  // a check records nothing
    try peers.insert("Maya", makeKey(1))
    #expect(try peers.check("Maya", makeKey(1)) == .known)
    #expect(try peers.check("maya", makeKey(2)) == .new)
    #expect(
      throws: KnownPeersError.changedKey(
        name: "Maya", known: Fingerprint(makeKey(1)), offered: Fingerprint(makeKey(2)))
    ) { try peers.check("Maya", makeKey(2)) }
    #expect(peers.key(of: "Maya") == makeKey(1) && peers.names == ["Maya"])
    try peers.insert("Maya", makeKey(2))
    #expect(try peers.check("Maya", makeKey(2)) == .known)
    peers.remove("Maya")
    #expect(try peers.check("Maya", makeKey(1)) == .new)
  }

  @Test func `the error of a changed key shows both keys in words`() {
    let error = KnownPeersError.changedKey(
      name: "Maya", known: Fingerprint(makeKey(1)), offered: Fingerprint(makeKey(2)))
    #expect(error.description.contains("Maya has another key"))
    for byte in [UInt8(1), 2] {
      #expect(error.description.contains("\(Fingerprint(makeKey(byte)))"))
    }
  }

  @Test func `a list is stored as lines in the order of the names, and read again`() throws {
    var peers = KnownPeers()
    try peers.insert("Zoë", makeKey(3))
    try peers.insert("Leo the 2nd", makeKey(4))
    let text = String(decoding: peers.encoded, as: UTF8.self)
    #expect(text == line(4, "Leo the 2nd") + line(3, "Zoë"))
    #expect(try decode(text) == peers)
    #expect(try decode("# met at the club\n\n" + text + "\n") == peers)
    #expect(try decode(String(text.dropLast())) == peers)  // without a line feed at the end
    #expect(try decode(text.replacing("\n", with: "\r\n") + "\r\n") == peers)
    #expect(try decode("") == KnownPeers())
    #expect(KnownPeers().encoded == [])
  }

  @Test func `a line that is not a key and a new name is refused with its number`() {
    let key = "\(makeKey(1))"
    for wrong in [
      "x", key, key + " ", key + "  Maya", key + " Maya ", key + "\tMaya", " " + key + " Maya",
      key.dropLast() + " Maya", key + "0 Maya", key.dropLast() + "g Maya", key + " a\u{7}",
      key + " a\rb", key + " a\r\r", key + " a\u{2028}b",
      key + " " + String(repeating: "n", count: 256),
    ] {
      #expect(throws: KnownPeersError.malformed(line: 3), "\(wrong)") {
        try decode(line(2, "Leo") + "#\n" + wrong + "\n")
      }
    }
    #expect(throws: KnownPeersError.malformed(line: 2)) {
      try decode(line(2, "Leo") + line(3, "Leo"))
    }
    #expect(throws: KnownPeersError.malformed(line: 1)) {
      try KnownPeers(decoding: Array(key.utf8) + [0x20, 0xFF])
    }
  }

  @Test func `names have 1 to 255 bytes and fit on a line`() throws {
    var peers = KnownPeers()
    for name in [
      "", " ", " a", "a ", "a\nb", "\u{0}", "a\u{85}", String(repeating: "n", count: 256),
    ] {
      #expect(throws: KnownPeersError.invalidName) { try peers.insert(name, makeKey(1)) }
    }
    #expect(peers == KnownPeers())
    let longest = String(repeating: "é", count: 127) + "n"
    for name in ["a", "a  b", "#a", longest] { try peers.insert(name, makeKey(1)) }
    #expect(try KnownPeers(decoding: peers.encoded) == peers)
  }

  @Test func `a list has at most 4,096 names`() throws {
    var peers = KnownPeers()
    for number in 0..<KnownPeers.limit { try peers.insert("\(number)", makeKey(1)) }
    #expect(throws: KnownPeersError.full) { try peers.insert("one more", makeKey(1)) }
    try peers.insert("0", makeKey(2))  // a name that is known needs no room
    #expect(peers.count == 4_096)
    #expect(try KnownPeers(decoding: peers.encoded) == peers)
    let more = peers.encoded + Array(line(1, "one more").utf8)
    #expect(throws: KnownPeersError.tooLong) { try KnownPeers(decoding: more) }
  }

  @Test func `a text of the maximum length is read, and one byte more is not`() throws {
    let comment =
      Array("#".utf8) + Array(repeating: UInt8(ascii: "c"), count: KnownPeers.maximumText)
    #expect(try KnownPeers(decoding: Array(comment.dropLast())) == KnownPeers())
    #expect(throws: KnownPeersError.tooLong) { try KnownPeers(decoding: comment) }
  }

  @Test func `any bytes are read or refused, and what is read is written again`() {
    var generator = SeededGenerator(seed: 7)
    let text = Array((line(1, "Maya") + "#\n" + line(2, "Zoë")).utf8)
    for _ in 0..<2_000 {
      var bytes = text
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let index = Int.random(in: bytes.indices, using: &generator)
        bytes[index] = .random(in: .min ... .max, using: &generator)
      }
      if let peers = try? KnownPeers(decoding: bytes) {
        #expect((try? KnownPeers(decoding: peers.encoded)) == peers)
      }
    }
  }

  @Test func `each error says what to do`() {
    for error in [KnownPeersError.invalidName, .full, .malformed(line: 12), .tooLong] {
      #expect(error.description.count > 30 && !error.description.contains("\n"))
    }
    #expect(KnownPeersError.malformed(line: 12).description.contains("line 12"))
  }
}
