import CaromCore

/// The tickets that were used and are still valid, so that each is used only once. All loops of a
/// host share one `UsedTickets`.
///
/// A ticket is never forgotten while it would still be accepted. When there is no room for more
/// tickets, new ones must wait until a remembered one expires.
///
/// The ticket of a door token is remembered once for each question that is asked with it, at most
/// 128, and questions fill at most half of the memory.
package struct UsedTickets<Owner: Hashable & Sendable>: Sendable {
  /// The result of using a ticket.
  package enum Outcome: Hashable, Sendable {
    /// The ticket was not used before; now it is.
    case first
    /// The same owner has already used the ticket, so this is a repetition of an earlier use.
    case repeated
    /// A different owner has used the ticket.
    case used
    /// The ticket has expired.
    case expired
    /// There is no room for another ticket: try again later.
    case full
  }

  private struct Expiry: HeapElement, Sendable {
    let time: UnixTime
    let id: TicketID
    /// The ticket with which the question was asked that `id` stands for; nil if it stands for a
    /// ticket.
    let asking: TicketID?

    func precedes(_ other: Expiry) -> Bool { time < other.time }
  }

  /// An owner that still exists, and how often it holds its ticket.
  private struct Holder: Sendable {
    let owner: Owner
    var count = 0
  }

  /// The maximum number of questions with the ticket of one door token. A player asks the doors of
  /// a fleet once a second, for a minute.
  package static var questionLimit: Int { 128 }

  /// The maximum number of tickets.
  package let capacity: Int
  /// The owner of each remembered ticket; nil for a ticket whose owner is gone.
  private var owners: [TicketID: Owner?] = [:]
  /// The number of questions with each ticket of a door token, of those in `owners`.
  private var questions: [TicketID: Int] = [:]
  /// The owners that still exist, by ticket. A ticket may have expired since its owner used it.
  private var holders: [TicketID: Holder] = [:]
  private var expiries = Heap<Expiry>()
  /// The latest time that was passed to `use`. If the wall clock is set back, tickets that were
  /// forgotten because they had expired must not become valid again.
  private var latest = UnixTime(milliseconds: .min)

  /// Creates an empty set of used tickets. The default capacity suffices for a thousand players a
  /// second with tickets that are valid for a minute.
  package init(capacity: Int = 65_536) {
    precondition(capacity > 0, "a memory needs room for a ticket")
    self.capacity = capacity
  }

  /// The number of tickets that are remembered.
  package var count: Int { owners.count }

  /// Uses a ticket that the host has accepted. `owner` names what uses it, such as a connection.
  package mutating func use(
    _ ticket: AcceptedTicket, by owner: Owner, at now: UnixTime
  ) -> Outcome {
    latest = max(latest, now)
    while let first = expiries.first, first.time <= latest {
      expiries.popFirst()
      owners[first.id] = nil
      // All questions with a ticket expire together.
      if let asking = first.asking { questions[asking] = nil }
    }
    guard latest < ticket.expiry else { return .expired }
    if let user = owners[ticket.id] { return user == owner ? .repeated : .used }
    guard owners.count < (ticket.isForDoors ? capacity / 2 : capacity) else { return .full }
    if ticket.isForDoors {
      guard questions[ticket.ticketID, default: 0] < Self.questionLimit else { return .used }
      questions[ticket.ticketID, default: 0] += 1
    }
    owners[ticket.id] = owner
    expiries.insert(
      Expiry(
        time: ticket.expiry, id: ticket.id, asking: ticket.isForDoors ? ticket.ticketID : nil))
    return .first
  }

  /// Returns the owner that holds a ticket, or nil if there is none.
  package func holder(of id: TicketID) -> Owner? { holders[id]?.owner }

  /// Records that the owner of a ticket holds it, even after the ticket has expired, until `drop`
  /// was called as often as this method, or `release` once. The number of such owners is the
  /// owners' to limit.
  package mutating func hold(_ ticket: AcceptedTicket, by owner: Owner) {
    holders[ticket.id, default: Holder(owner: owner)].count += 1
  }

  /// Undoes one call of `hold`. As long as the ticket is valid, its owner can use it again.
  package mutating func drop(_ ticket: AcceptedTicket) {
    guard var holder = holders[ticket.id] else { return }
    holder.count -= 1
    holders[ticket.id] = holder.count > 0 ? holder : nil
  }

  /// Records that the owner of a ticket is gone. As long as the ticket is valid, nobody else can
  /// use it, and nor can a later owner with the same name.
  package mutating func release(_ ticket: AcceptedTicket) {
    holders[ticket.id] = nil
    if owners[ticket.id] != nil { owners[ticket.id] = .some(nil) }
  }
}
