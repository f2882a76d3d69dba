import CaromDNS
import Testing

@Suite struct KeyFileTests {
  private static let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

  private static func text(
    name: String = "game-key", algorithm: String = "hmac-sha256", secret: String = secret
  ) -> String {
    "key \"\(name)\" {\n\talgorithm \(algorithm);\n\tsecret \"\(secret)\";\n};\n"
  }

  @Test func `the output of tsig-keygen is read`() throws {
    let file = try KeyFile(parsing: Array(Self.text().utf8))
    #expect(file.name == "game-key" && file.secret == Array(0..<32))
  }

  @Test func `comments, one line, no quotes and another order are read`() throws {
    let texts = [
      "# a comment\n// another\n" + Self.text(),
      "key game-key{algorithm HMAC-SHA256;secret \(Self.secret);};",
      "key game-key { secret \"\(Self.secret)\"; // here too\n algorithm hmac-sha256; };",
    ]
    for text in texts {
      let file = try KeyFile(parsing: Array(text.utf8))
      #expect(file.name == "game-key" && file.secret == Array(0..<32))
    }
  }

  @Test func `padding and every digit are decoded`() throws {
    let cases: [(String, [UInt8])] = [
      ("+/+/AAAAAAAAAAAAAAAAAA==", [0xFB, 0xFF, 0xBF] + [UInt8](repeating: 0, count: 13)),
      ("AAAAAAAAAAAAAAAAAAAAAAE=", [UInt8](repeating: 0, count: 16) + [1]),
    ]
    for (text, secret) in cases {
      #expect(try KeyFile(parsing: Array(Self.text(secret: text).utf8)).secret == secret)
    }
  }

  @Test func `malformed files throw their errors`() {
    let cases: [(String, KeyFileError)] = [
      ("", .malformed), ("key", .malformed), ("key \"a\" {", .malformed),
      ("key a { };", .malformed), (Self.text(name: "a..b"), .malformed),
      (Self.text(secret: "AAE"), .malformed), (Self.text(secret: "A*ECAwQFBgcICQ=="), .malformed),
      (Self.text(secret: "===="), .malformed), (Self.text(secret: "AAAA"), .secretLength),
      (Self.text(algorithm: "hmac-md5"), .unsupportedAlgorithm),
      (String(repeating: " ", count: 4097), .malformed),
    ]
    for (text, error) in cases {
      #expect(throws: error, "\(text)") { try KeyFile(parsing: Array(text.utf8)) }
    }
  }

  @Test func `neither a file nor an error shows the secret`() throws {
    let file = try KeyFile(parsing: Array(Self.text().utf8))
    var dump = ""
    Swift.dump(file, to: &dump)
    #expect("\(file) \(String(reflecting: file))" == "key game-key key game-key")
    #expect(!dump.contains("31"))
  }
}
