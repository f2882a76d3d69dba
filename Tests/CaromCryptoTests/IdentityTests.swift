import CaromCore
import Testing

@testable import CaromCrypto

/// Who a peer is: its key pair, the id and the words that follow from it, and that nothing shows
/// the secret.
struct IdentityTests {
  /// Returns the identity with the key pair of Alice in RFC 7748 §6.1.
  private func makeAlice() throws -> Identity {
    let text = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"
    let bytes = try #require(Hexadecimal.bytes(of: text.utf8, count: 32))
    return Identity(KeyPair(secret: SecretBytes(bytes)))
  }

  // The id and the words were computed from the WireFormat page with Python's hashlib.
  @Test func `id and words follow from the public key`() throws {
    let alice = try makeAlice()
    let key = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
    #expect(alice.publicKey.description == key)
    #expect(alice.id.description == "3186d75602f3672f151e9e441004c79b")
    #expect(
      alice.fingerprint.description
        == "circus-jukebox-snail-engine-airport-volcano-giant-chimney-barrel-blossom")
    #expect(alice.fingerprint.words.count == Fingerprint.wordCount)
  }

  @Test func `each identity has a key of its own, which follows from the randomness`() {
    var generator = SeededGenerator(seed: 1)
    var same = generator
    let first = Identity(using: &generator)
    let second = Identity(using: &generator)
    #expect(first != second && first.id != second.id)
    #expect(first.fingerprint != second.fingerprint)
    let again = Identity(using: &same)
    #expect(again == first && again.id == first.id && again.fingerprint == first.fingerprint)
    #expect(first.keys.secret != second.keys.secret)
  }

  @Test func `nothing that is printed contains the secret`() throws {
    let alice = try makeAlice()
    var dumped = ""
    dump(alice, to: &dumped)
    for text in ["\(alice)", String(reflecting: alice), dumped, "\([alice])"] {
      #expect(!text.isEmpty)
      #expect(!text.contains("77076d0a") && !text.contains("119, 7, 109"))
      #expect(!text.contains("7707"))
    }
    #expect("\(alice)" == "identity \(alice.fingerprint)")
  }

  @Test func `a public key is read from its digits, and from nothing else`() throws {
    let key = try makeAlice().publicKey
    #expect(PublicKey("\(key)") == key)
    #expect(PublicKey("\(key)".uppercased()) == key)
    let digits = "\(key)"
    for text in ["", String(digits.dropLast()), digits + "0", digits + "00", " " + digits] {
      #expect(PublicKey(text) == nil, "\(text)")
    }
    for wrong in ["g", "G", "/", ":", "@", "`", "\u{661}", "é"] {
      #expect(PublicKey(digits.dropLast() + wrong) == nil, "\(wrong)")
    }
    for count in [0, 31, 33] {
      #expect(PublicKey([UInt8](repeating: 9, count: count).span) == nil)
    }
  }

  @Test func `digits and bytes are converted both ways`() {
    let all = (0...255).map(UInt8.init)
    let digits = Hexadecimal.digits(of: all)
    #expect(digits.count == 512 && digits.prefix(6) == Array("000102".utf8)[...])
    #expect(Hexadecimal.bytes(of: digits, count: 256) == all)
    #expect(Hexadecimal.bytes(of: digits, count: 255) == nil)
    #expect(Hexadecimal.bytes(of: [], count: 0) == [])
  }
}

/// The list of words can be read aloud without mistakes.
struct FingerprintWordTests {
  private let words = Fingerprint.words.map(Array.init)

  @Test func `there is one word for each byte, in order, of four to seven small letters`() {
    #expect(words.count == 256)
    #expect(Set(words).count == 256)
    for word in words {
      #expect((4...7).contains(word.count), "\(String(word))")
      #expect(word.allSatisfy { ("a"..."z").contains($0) }, "\(String(word))")
    }
    for (word, next) in zip(Fingerprint.words, Fingerprint.words.dropFirst()) {
      #expect(word < next)
    }
  }

  @Test func `the first three letters tell all words apart`() {
    #expect(Set(words.map { $0.prefix(3) }).count == 256)
  }

  @Test func `no word turns into another by fewer than three changes of letters`() {
    for (index, word) in words.enumerated() {
      for other in words[(index + 1)...] where Self.distance(word, other) < 3 {
        Issue.record("\(String(word)) is like \(String(other))")
      }
    }
  }

  /// Returns how many letters must be inserted, removed or replaced to turn `a` into `b`.
  private static func distance(_ a: [Character], _ b: [Character]) -> Int {
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var next = [i + 1]
      for (j, other) in b.enumerated() {
        next.append(min(row[j + 1] + 1, next[j] + 1, row[j] + (letter == other ? 0 : 1)))
      }
      row = next
    }
    return row[b.count]
  }
}
