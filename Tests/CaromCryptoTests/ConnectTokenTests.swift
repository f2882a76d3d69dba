import CaromCore
import Testing

@testable import CaromCrypto

/// A backend's tokens: what they carry, and which ones a host accepts.
struct ConnectTokenTests {
  private let backendKey = BackendKey(SecretBytes(repeating: 7))
  private let player = PeerID(high: 1, low: 2)
  private let host = Endpoint(.v4(0x0A00_0001), port: 7777)
  private let now = UnixTime(milliseconds: 1_000_000)

  private func makeToken(
    hosts: [Endpoint]? = nil, lifetime: Duration = .seconds(30), data: [UInt8] = [9, 8],
    key: BackendKey? = nil, seed: UInt64 = 1
  ) throws(ConnectTokenError) -> ConnectToken {
    var generator = SeededGenerator(seed: seed)
    return try ConnectToken(
      for: hosts ?? [host], player: player, lifetime: lifetime, data: data,
      key: key ?? backendKey, at: now, using: &generator)
  }

  private func makeReader(
    keys: [BackendKey]? = nil, start: Int64 = 0, endpoints: Set<Endpoint>? = nil
  ) -> TicketReader {
    TicketReader(
      keys: keys ?? [backendKey], start: UnixTime(milliseconds: start), endpoints: endpoints)
  }

  private func read(
    _ bytes: [UInt8], by reader: TicketReader? = nil, after delay: Duration = .zero
  ) throws(ConnectTokenError) -> AcceptedTicket {
    try (reader ?? makeReader()).read(bytes.span, at: now + delay)
  }

  @Test func `a host reads what the backend wrote, and shares the client's key`() throws {
    let token = try makeToken()
    let client = try ConnectToken(token.text)
    #expect(client.hosts == [host] && client.made == now && client.expiry == now + .seconds(30))
    #expect(client.bytes == token.bytes)
    let ticket = try read(client.ticketBytes)
    #expect(ticket.player == player && ticket.data == [9, 8] && ticket.hosts == [host])
    #expect(ticket.made == now && ticket.expiry == now + .seconds(30))
    #expect(ticket.key == client.key && ticket.key.count == 32)
  }

  // Made by the backend on the page Security, in Python, with these arguments.
  @Test func `a ticket has the bytes that the page describes`() throws {
    let digits =
      "435254310068e5cf8b0100006052e6cf8b01000002040a000001611e0620010db80000000000000000000000"
      + "01bb016465666768696a6b6c6d6e6f707172737475767778797a7b0b91de40ddbca9b4d05e679eb42408d401"
      + "ab9478c6e323b30ebc4d118b08f6641a8a7e0771b1688c397f25ac14647d34b89558c6a625036a28b1c05c12"
      + "e102bf9507d9731453"
    let made = UnixTime(milliseconds: 1_700_000_000_000)
    let second = Endpoint(.v6(high: 0x2001_0DB8_0000_0000, low: 1, scope: 0), port: 443)
    let ticket = Ticket(
      made: made, expiry: made + .seconds(60), hosts: [host, second],
      player: PeerID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F),
      data: Array("team=2".utf8), key: SecretBytes((0..<32).map(UInt8.init)),
      nonce: (100..<124).map(UInt8.init), backendKey: backendKey)
    #expect(ticket.bytes == Hexadecimal.bytes(of: digits.utf8, count: 141))
    let accepted = try makeReader().read(ticket.bytes.span, at: made)
    #expect(accepted.player.description == "000102030405060708090a0b0c0d0e0f")
    #expect(accepted.hosts == [host, second] && accepted.data == Array("team=2".utf8))
  }

  @Test func `the largest token has 511 bytes, and its text is a line of 682 characters`() throws {
    let hosts = (1...6).map {
      Endpoint(.v6(high: 0x2001_0DB8_0000_0000, low: $0, scope: 0), port: 65_535)
    }
    let data = [UInt8](repeating: 0xEE, count: 256)
    let token = try makeToken(hosts: hosts, lifetime: ConnectToken.maximumLifetime, data: data)
    #expect(token.bytes.count == 511 && token.bytes.count <= ConnectToken.maximumLength)
    #expect(token.ticketBytes.count == Ticket.maximumLength)
    #expect(token.text.utf8.count == 682 && token.text.allSatisfy { $0.isASCII })
    let ticket = try read(ConnectToken(token.text).ticketBytes)
    #expect(ticket.hosts == hosts && ticket.data == data)
  }

  @Test func `the smallest token names no host and carries no data`() throws {
    let token = try makeToken(hosts: [], lifetime: .milliseconds(1), data: [])
    #expect(token.ticketBytes.count == Ticket.minimumLength && token.bytes.count == 141)
    #expect(try read(token.ticketBytes).hosts == [])
    for length in 0..<token.bytes.count {
      #expect(throws: DecodeError.self, "\(length)") {
        try ConnectToken(decoding: Array(token.bytes.prefix(length)).span)
      }
    }
  }

  @Test func `a token beyond the limits is not made`() throws {
    let hosts = [Endpoint](repeating: host, count: 7)
    #expect(throws: ConnectTokenError.tooManyHosts) { try makeToken(hosts: hosts) }
    let data = [UInt8](repeating: 0, count: 257)
    #expect(throws: ConnectTokenError.tooMuchData) { try makeToken(data: data) }
    for lifetime in [.zero, .seconds(-1), .nanoseconds(999_999), .seconds(86_401)] as [Duration] {
      #expect(throws: ConnectTokenError.invalidLifetime) { try makeToken(lifetime: lifetime) }
    }
    for address in [IPAddress.any4, .any6, .v4(0xE000_0001)] {
      let host = Endpoint(address, port: 1)
      #expect(throws: ConnectTokenError.invalidHost(host)) { try makeToken(hosts: [host]) }
    }
    let host = Endpoint(.loopback4, port: 0)
    #expect(throws: ConnectTokenError.invalidHost(host)) { try makeToken(hosts: [host]) }
  }

  @Test func `a token is valid until it expires, and not at that time`() throws {
    let bytes = try makeToken().ticketBytes
    #expect(try read(bytes, after: .milliseconds(29_999)).player == player)
    #expect(throws: ConnectTokenError.expired) { try read(bytes, after: .seconds(30)) }
    #expect(throws: ConnectTokenError.notYetValid) { try read(bytes, after: .milliseconds(-1)) }
  }

  @Test func `a token that was made before the host started is refused`() throws {
    let bytes = try makeToken().ticketBytes
    #expect(try read(bytes, by: makeReader(start: 999_999)).player == player)
    #expect(throws: ConnectTokenError.madeBeforeStart) {
      try read(bytes, by: makeReader(start: 1_000_000))
    }
  }

  @Test func `a token for other hosts is refused, unless the host does not know its own address`()
    throws
  {
    let other = Endpoint(.v4(0x0A00_0001), port: 7778)
    let bytes = try makeToken(hosts: [Endpoint(.loopback6, port: 1), host]).ticketBytes
    #expect(try read(bytes, by: makeReader(endpoints: [host, other])).player == player)
    #expect(throws: ConnectTokenError.otherHost) {
      try read(bytes, by: makeReader(endpoints: [other]))
    }
    #expect(throws: ConnectTokenError.otherHost) { try read(bytes, by: makeReader(endpoints: [])) }
  }

  @Test func `a host with several keys accepts the tokens of each, and no others`() throws {
    let keys = (1...4).map { BackendKey(SecretBytes(repeating: $0)) }
    let reader = makeReader(keys: keys)
    for key in keys {
      #expect(try read(makeToken(key: key).ticketBytes, by: reader).player == player)
    }
    let token = try makeToken()
    #expect(throws: ConnectTokenError.notAuthentic) { try read(token.ticketBytes, by: reader) }
  }

  @Test func `every changed bit of a ticket is noticed`() throws {
    let bytes = try makeToken().ticketBytes
    for bit in 0..<bytes.count * 8 {
      var forged = bytes
      forged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: ConnectTokenError.self, "bit \(bit)") { try read(forged) }
    }
    for forged in [bytes + [0], Array(bytes.dropLast()), Array(bytes.dropFirst()), []] {
      #expect(throws: ConnectTokenError.self) { try read(forged) }
    }
    #expect(try read(bytes).player == player)
  }

  @Test func `no two tokens have the same key, nonce or tag`() throws {
    let tokens = try (1...50).map { try makeToken(seed: $0) }
    #expect(Set(tokens.map { $0.key.reveal() }).count == 50)
    let ids = try tokens.map { try read($0.ticketBytes).id }
    #expect(Set(ids).count == 50)
    #expect(Set(tokens.map { Array($0.ticketBytes[28..<52]) }).count == 50)
  }

  @Test func `a ticket that claims too much is refused before it is read`() throws {
    let bytes = try makeToken().ticketBytes
    let tooMany = Array(bytes.prefix(20)) + [7] + bytes.dropFirst(21)
    #expect(throws: ConnectTokenError.malformed(.tooLarge(length: 7, limit: 6))) {
      try read(tooMany)
    }
    let long = [UInt8](repeating: 0, count: Ticket.maximumLength + 1)
    #expect(
      throws: ConnectTokenError.malformed(
        .tooLarge(length: UInt64(long.count), limit: UInt64(Ticket.maximumLength)))
    ) { try read(long) }
    let data = bytes + [UInt8](repeating: 0, count: 255)  // with the two bytes of data, 257
    #expect(throws: ConnectTokenError.malformed(.tooLarge(length: 257, limit: 256))) {
      try read(data)
    }
    #expect(throws: DecodeError.tooLarge(length: 769, limit: 768)) {
      try ConnectToken(decoding: [UInt8](repeating: 0, count: 769).span)
    }
    #expect(throws: DecodeError.tooLarge(length: 1_025, limit: 1_024)) {
      try ConnectToken(String(repeating: "A", count: 1_025))
    }
  }

  @Test func `a lifetime of more than a day is refused even with the backend's key`() throws {
    let ticket = Ticket(
      made: now, expiry: now + .seconds(86_400) + .milliseconds(1), hosts: [], player: player,
      data: [], key: SecretBytes(repeating: 1), nonce: [UInt8](repeating: 0, count: 24),
      backendKey: backendKey)
    #expect(throws: ConnectTokenError.invalidLifetime) { try read(ticket.bytes) }
  }

  @Test func `nothing that is printed contains a secret`() throws {
    let token = try makeToken()
    let ticket = try read(token.ticketBytes)
    var dumped = ""
    dump(token, to: &dumped)
    dump(ticket, to: &dumped)
    dump(backendKey, to: &dumped)
    let secret = token.key.reveal().prefix(4).map { "\($0)" }.joined(separator: ", ")
    for text in ["\(token)", String(reflecting: token), dumped, "\(ticket)", "\(backendKey)"] {
      #expect(!text.contains(secret) && !text.contains("7, 7, 7") && !text.contains("0707"))
      #expect(!text.contains(token.text.suffix(8)))
    }
    #expect("\(token)" == "connect token for 10.0.0.1:7777")
  }

  @Test func `a backend key is read from its digits, and from nothing else`() throws {
    let digits = backendKey.hexadecimal.reveal()
    #expect(digits == Array(repeatElement("07", count: 32).joined().utf8))
    let key = try #require(BackendKey(hexadecimal: digits))
    #expect(try read(makeToken(key: key).ticketBytes).player == player)
    #expect(BackendKey(hexadecimal: digits.dropLast()) == nil)
    #expect(BackendKey(hexadecimal: digits + [0x30]) == nil)
    var generator = SeededGenerator(seed: 1)
    #expect(BackendKey(using: &generator).secret != BackendKey(using: &generator).secret)
  }

  @Test func `each error says what to do`() {
    let errors: [ConnectTokenError] = [
      .tooManyHosts, .invalidHost(host), .tooMuchData, .invalidLifetime, .expired, .notYetValid,
      .malformed(.truncated(wanted: 1, remaining: 0)), .madeBeforeStart, .otherHost, .notAuthentic,
    ]
    #expect(Set(errors.map(\.description)).count == errors.count)
    for error in errors { #expect(error.description.contains(":"), "\(error)") }
  }

  @Test func `any bytes are read or refused`() throws {
    var generator = SeededGenerator(seed: 11)
    let token = try makeToken()
    for _ in 0..<3_000 {
      var bytes = token.bytes
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] =
          .random(in: .min ... .max, using: &generator)
      }
      bytes.removeLast(Int.random(in: 0...40, using: &generator))
      guard let read = try? ConnectToken(decoding: bytes.span) else { continue }
      #expect(read.bytes == bytes)
      #expect(try ConnectToken(read.text).bytes == bytes)
    }
  }
}
