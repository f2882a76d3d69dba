import CaromCore
import Testing

@testable import CaromCrypto

/// A host's memory of used tickets: each is used once, whatever happens.
struct UsedTicketTests {
  private let start = UnixTime(milliseconds: 1_000_000)

  /// Makes an accepted ticket, as the reader does.
  private func makeTicket(_ seed: UInt64, lifetime: Duration = .seconds(30)) throws
    -> AcceptedTicket
  {
    var generator = SeededGenerator(seed: seed)
    let key = BackendKey(SecretBytes(repeating: 7))
    let token = try ConnectToken(
      for: [], player: PeerID(high: 0, low: seed), lifetime: lifetime, key: key, at: start,
      using: &generator)
    return try TicketReader(keys: [key], start: UnixTime(milliseconds: 0))
      .read(token.ticketBytes.span, at: start)
  }

  @Test func `a ticket is used once, and its owner may repeat itself`() throws {
    var used = UsedTickets<Int>()
    let ticket = try makeTicket(1)
    #expect(used.use(ticket, by: 1, at: start) == .first)
    #expect(used.use(ticket, by: 1, at: start) == .repeated)
    #expect(used.use(ticket, by: 2, at: start) == .used)
    #expect(used.use(try makeTicket(2), by: 2, at: start) == .first)
    #expect(used.use(ticket, by: 2, at: start + .milliseconds(29_999)) == .used)
    #expect(used.count == 2)
  }

  @Test func `a full memory makes new tickets wait, and forgets none that is valid`() throws {
    var used = UsedTickets<Int>(capacity: 3)
    let tickets = try (1...3).map { try makeTicket(UInt64($0), lifetime: .seconds($0 * 10)) }
    for (owner, ticket) in tickets.enumerated() {
      #expect(used.use(ticket, by: owner, at: start) == .first)
    }
    let late = try makeTicket(9, lifetime: .seconds(60))
    #expect(used.use(late, by: 9, at: start) == .full)
    #expect(used.use(late, by: 9, at: start + .milliseconds(9_999)) == .full)
    #expect(tickets.allSatisfy { used.use($0, by: 8, at: start) == .used })
    #expect(used.use(late, by: 9, at: start + .seconds(10)) == .first)
    #expect(used.use(tickets[1], by: 8, at: start + .seconds(10)) == .used)
    #expect(used.count == 3)
  }

  @Test func `an expired ticket stays refused when the clock is set back`() throws {
    var used = UsedTickets<Int>()
    let ticket = try makeTicket(1)
    #expect(used.use(ticket, by: 1, at: start) == .first)
    #expect(
      used.use(try makeTicket(2, lifetime: .seconds(60)), by: 2, at: start + .seconds(30))
        == .first)
    #expect(used.count == 1)
    #expect(used.use(ticket, by: 1, at: start) == .expired)
    #expect(used.use(ticket, by: 2, at: start) == .expired)
  }

  @Test func `a ticket counts until the moment at which it expires`() throws {
    var used = UsedTickets<Int>()
    let ticket = try makeTicket(1)
    #expect(used.use(ticket, by: 1, at: start + .milliseconds(29_999)) == .first)
    #expect(used.use(ticket, by: 1, at: start + .seconds(30)) == .expired)
    #expect(used.count == 0)
  }

  @Test func `a ticket is held as often as it was held and not dropped`() throws {
    var used = UsedTickets<Int>()
    let ticket = try makeTicket(1)
    #expect(used.use(ticket, by: 1, at: start) == .first)
    used.hold(ticket, by: 1)
    used.hold(ticket, by: 1)
    used.drop(ticket)
    #expect(used.holder(of: ticket.id) == 1)
    used.drop(ticket)
    #expect(used.holder(of: ticket.id) == nil)
    #expect(used.use(ticket, by: 1, at: start) == .repeated)
    used.hold(ticket, by: 1)
    used.hold(ticket, by: 1)
    used.release(ticket)
    #expect(used.holder(of: ticket.id) == nil)
    used.drop(ticket)
    #expect(used.use(ticket, by: 1, at: start) == .used)
  }

  @Test func `tickets that expire in any order are used once each`() throws {
    var generator = SeededGenerator(seed: 5)
    var used = UsedTickets<Int>(capacity: 20)
    var tickets: [AcceptedTicket] = []
    var accepted: [Int: Int] = [:]
    for step in 0..<400 {
      let now = start + .milliseconds(step * 50)
      let lifetime = Duration.milliseconds(step * 50 + .random(in: 1...2_000, using: &generator))
      tickets.append(try makeTicket(UInt64(step), lifetime: lifetime))
      let index = Int.random(in: max(0, step - 19)...step, using: &generator)
      if used.use(tickets[index], by: step, at: now) == .first { accepted[index, default: 0] += 1 }
      #expect(used.count <= 20)
    }
    #expect(accepted.count > 100 && accepted.values.allSatisfy { $0 == 1 })
  }

  @Test func `a wall clock's time is in milliseconds and does not overflow`() {
    #expect((start + .microseconds(1_999)).milliseconds == 1_000_001)
    #expect((start + .milliseconds(-1)).milliseconds == 999_999)
    #expect((start + .seconds(Int64.max)).milliseconds == .max)
    #expect((start + .seconds(Int64.min)).milliseconds == .min)
    #expect((UnixTime(milliseconds: .max) + .milliseconds(1)).milliseconds == .max)
    #expect(start < start + .milliseconds(1))
  }
}
