import CaromCrypto
import Testing

@testable import CaromPlacement

@Suite struct FleetAddressTests {
  private static func password(_ text: String) -> SecretBytes {
    SecretBytes(copying: Array(text.utf8).span)
  }

  @Test func `an address has a host, a port and the name of a fleet`() throws {
    let samples: [(String, host: String, port: UInt16, fleet: String, text: String)] = [
      ("redis://10.0.0.1:7000/rack-1", "10.0.0.1", 7_000, "rack-1", "redis://10.0.0.1:7000/rack-1"),
      (
        "redis://redis.example.com/a", "redis.example.com", 6_379, "a",
        "redis://redis.example.com:6379/a"
      ),
      ("redis://[::1]:1/A_b.c~9", "::1", 1, "A_b.c~9", "redis://[::1]:1/A_b.c~9"),
      ("redis://[fe80::1]/a", "fe80::1", 6_379, "a", "redis://[fe80::1]:6379/a"),
    ]
    for sample in samples {
      let address = try FleetAddress(sample.0)
      #expect(address.host == sample.host && address.port == sample.port)
      #expect(address.fleet.text == sample.fleet)
      #expect(address.user == nil && address.password == nil)
      #expect(address.description == sample.text)
    }
  }

  @Test func `a user and a password stand before the host`() throws {
    let samples: [(String, user: String?, password: String?)] = [
      ("redis://maya:secret@h/a", "maya", "secret"), ("redis://:secret@h/a", nil, "secret"),
      ("redis://maya@h/a", "maya", nil), ("redis://m%61ya:a%2Fb%40c%25:d@h/a", "maya", "a/b@c%:d"),
      ("redis://:a@b@h/a", nil, "a@b"), ("redis://@h/a", nil, nil), ("redis://:@h/a", nil, nil),
    ]
    for sample in samples {
      let address = try FleetAddress(sample.0)
      #expect(address.host == "h" && address.fleet.text == "a")
      #expect(address.user == sample.user)
      #expect(address.password == sample.password.map(Self.password))
    }
  }

  @Test func `an address that begins with rediss is one with TLS`() throws {
    let address = try FleetAddress("rediss://maya:secret@h:7/a")
    #expect(address.isEncrypted && address.host == "h" && address.port == 7)
    #expect(address.description == "rediss://h:7/a" && address.user == "maya")
    let plain = try FleetAddress("redis://maya:secret@h:7/a")
    #expect(!plain.isEncrypted && plain != address)
  }

  @Test func `a password can be set`() throws {
    var address = try FleetAddress("redis://h/a")
    try address.setPassword("secret")
    #expect(address == (try FleetAddress("redis://:secret@h/a")))
    #expect(throws: FleetAddressError.invalidLogin) {
      try address.setPassword(String(repeating: "a", count: 513))
    }
    try address.setPassword("")
    #expect(address.password == nil)
  }

  @Test func `no text of an address shows the user or the password`() throws {
    let address = try FleetAddress("redis://maya:secret@h/a")
    var dumped = ""
    dump(address, to: &dumped)
    for text in ["\(address)", String(reflecting: address), dumped] {
      #expect(!text.contains("secret") && !text.contains("maya"))
    }
  }

  @Test(
    arguments: [
      ("", .noAddress), ("h:1/a", .noAddress), ("http://h/a", .noAddress),
      ("redisss://h/a", .noAddress), ("redis://h", .invalidName), ("redis://h/", .invalidName),
      ("redis://h/a/b", .invalidName), ("redis://h/a?b", .invalidName),
      ("redis://h/{a}", .invalidName),
      ("redis://h/a b", .invalidName),
      ("redis://h/\(String(repeating: "a", count: 65))", .invalidName),
      ("redis:///a", .invalidHost), ("redis://:1/a", .invalidHost), ("redis://h h/a", .invalidHost),
      ("redis://[h]/a", .invalidHost), ("redis://[10.0.0.1]/a", .invalidHost),
      ("redis://[::1/a", .invalidHost), ("redis://::1/a", .invalidHost),
      ("redis://h:/a", .invalidPort), ("redis://h:0/a", .invalidPort),
      ("redis://h:65536/a", .invalidPort), ("redis://[::1]x/a", .invalidPort),
      ("redis://h:1x/a", .invalidPort), ("redis://u:%@h/a", .invalidLogin),
      ("redis://u:%1@h/a", .invalidLogin), ("redis://u:%+1@h/a", .invalidLogin),
      ("redis://%FF:p@h/a", .invalidLogin),
      ("redis://:\(String(repeating: "a", count: 513))@h/a", .invalidLogin),
    ] as [(String, FleetAddressError)])
  func `a text that is no address is refused with the reason`(
    text: String, error: FleetAddressError
  ) {
    #expect(throws: error) { try FleetAddress(text) }
  }

  @Test func `a program logs in with the user and the password, if there is one`() throws {
    func logIn(_ login: String) throws -> String? {
      try RedisCommand.logIn(to: FleetAddress("redis://\(login)h/a"))
        .map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(try logIn(":p@") == "*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n")
    #expect(try logIn("maya:p@") == "*3\r\n$4\r\nAUTH\r\n$4\r\nmaya\r\n$1\r\np\r\n")
    #expect(try logIn("maya@") == nil && logIn("") == nil)
  }
}
