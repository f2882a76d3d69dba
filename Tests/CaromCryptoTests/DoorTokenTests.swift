import CaromCore
import Testing

@testable import CaromCrypto

/// Tokens with which a player can ask a door of a fleet, and never join.
struct DoorTokenTests {
  private let backendKey = BackendKey(SecretBytes(repeating: 7))
  private let player = PeerID(high: 1, low: 2)
  private let door = Endpoint(.v4(0x0A00_0001), port: 7777)
  private let now = UnixTime(milliseconds: 1_000_000)

  private func makeToken(_ seed: UInt64 = 1) throws -> ConnectToken {
    var generator = SeededGenerator(seed: seed)
    return try ConnectToken(
      asking: [RoutedEndpoint(door)], player: player, lifetime: .seconds(30), data: [9],
      key: backendKey, at: now,
      using: &generator)
  }

  private func read(
    _ ticket: [UInt8], start: Int64 = 0, after delay: Duration = .zero
  ) throws(ConnectTokenError) -> AcceptedTicket {
    let reader = TicketReader(
      keys: [backendKey], start: UnixTime(milliseconds: start), endpoints: [door])
    return try reader.read(ticket.span, at: now + delay)
  }

  @Test func `a door token has a ticket of its own kind`() throws {
    let token = try makeToken()
    #expect(token.ticketBytes.prefix(4) == ArraySlice("CRD1".utf8) && token.isForDoors)
    let copy = try ConnectToken(token.text)
    #expect(copy == token && copy.isForDoors && copy.hosts == [door])
    let ticket = try read(token.ticketBytes)
    #expect(ticket.isForDoors && ticket.player == player && ticket.data == [9])
    var generator = SeededGenerator(seed: 1)
    let other = try ConnectToken(
      for: [door], player: player, lifetime: .seconds(30), key: backendKey, at: now,
      using: &generator)
    #expect(try !other.isForDoors && !read(other.ticketBytes).isForDoors)
  }

  @Test func `no token of one kind becomes one of the other`() throws {
    var generator = SeededGenerator(seed: 1)
    let other = try ConnectToken(
      for: [door], player: player, lifetime: .seconds(30), key: backendKey, at: now,
      using: &generator)
    for (bytes, magic) in [(try makeToken().ticketBytes, "CRT1"), (other.ticketBytes, "CRD1")] {
      let forged = Array(magic.utf8) + bytes.dropFirst(4)
      #expect(throws: ConnectTokenError.notAuthentic) { try read(forged) }
    }
  }

  @Test func `every changed bit of a door token's ticket is noticed`() throws {
    let bytes = try makeToken().ticketBytes
    for bit in 0..<bytes.count * 8 {
      var forged = bytes
      forged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: ConnectTokenError.self, "bit \(bit)") { try read(forged) }
    }
  }

  @Test func `of a door token only the end counts`() throws {
    let bytes = try makeToken().ticketBytes
    #expect(try read(bytes, start: 2_000_000, after: .milliseconds(29_999)).player == player)
    #expect(try read(bytes, after: .seconds(-5)).player == player)
    #expect(throws: ConnectTokenError.expired) { try read(bytes, after: .seconds(30)) }
  }

  @Test func `a player asks 128 times with a door token, each time with a new connection`() throws {
    var used = UsedTickets<UInt64>()
    let ticket = try read(makeToken().ticketBytes)
    for number in 1...UInt64(UsedTickets<UInt64>.questionLimit) {
      let question = ticket.used(by: (1, number))
      #expect(used.use(question, by: number, at: now) == .first)
      #expect(used.use(question, by: number, at: now) == .repeated)
      #expect(used.use(question, by: 0, at: now) == .used)
    }
    #expect(used.use(ticket.used(by: (2, 1)), by: 1, at: now) == .used)
    let next = try read(makeToken(2).ticketBytes)
    #expect(used.use(next.used(by: (2, 1)), by: 1, at: now) == .first)
    #expect(used.count == 129)
    #expect(used.use(ticket.used(by: (3, 1)), by: 1, at: now + .seconds(30)) == .expired)
    #expect(used.count == 0)
  }

  @Test func `questions fill half of the memory, and leave room for players who join`() throws {
    var used = UsedTickets<UInt64>(capacity: 4)
    let ticket = try read(makeToken().ticketBytes)
    let outcomes = (1...3).map { used.use(ticket.used(by: (0, $0)), by: $0, at: now) }
    #expect(outcomes == [.first, .first, .full])
    var generator = SeededGenerator(seed: 3)
    let joining = try ConnectToken(
      for: [door], player: player, lifetime: .seconds(30), key: backendKey, at: now,
      using: &generator)
    let seat = try read(joining.ticketBytes)
    #expect(seat.used(by: (0, 1)).id == seat.id)
    #expect(used.use(seat, by: 9, at: now) == .first)
  }
}
