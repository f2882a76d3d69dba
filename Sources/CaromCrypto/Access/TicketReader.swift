import CaromCore

/// What a host reads from a ticket that it accepts.
public struct AcceptedTicket: Sendable {
  /// The id that the backend gave the player.
  public let player: PeerID
  /// The backend's data, at most 256 bytes.
  public let data: [UInt8]
  /// The time at which the ticket was made, on the backend's clock.
  public let made: UnixTime
  /// The time from which the ticket is no longer valid.
  public let expiry: UnixTime
  /// The hosts for which the ticket is meant.
  public let hosts: [Endpoint]
  /// The key that the host shares with the client. It is the pre-shared key of their handshake.
  package let key: SecretBytes
  /// The ticket's own id.
  package let ticketID: TicketID
  /// The id under which `UsedTickets` remembers the ticket: its own one, or that of one question.
  package private(set) var id: TicketID
  /// Whether the ticket is that of a door token, with which a player asks where its match is and
  /// never gets a seat.
  package let isForDoors: Bool

  fileprivate init(
    _ ticket: Ticket, player: PeerID, data: [UInt8], key: SecretBytes
  ) {
    self.player = player
    self.data = data
    (made, expiry, hosts) = (ticket.made, ticket.expiry, ticket.hosts)
    self.key = key
    ticketID = TicketID(ticket.bytes)
    id = ticketID
    isForDoors = ticket.purpose == .asking
  }

  /// Returns the ticket as the connection with this key uses it, which is not zero. Each connection
  /// asks a question of its own with the ticket of a door token.
  package func used(by connection: (UInt64, UInt64)) -> AcceptedTicket {
    guard isForDoors else { return self }
    var ticket = self
    ticket.id = TicketID(ticketID, question: connection)
    return ticket
  }
}

extension AcceptedTicket: Hashable {
  /// Returns whether two values stand for the same ticket.
  public static func == (a: AcceptedTicket, b: AcceptedTicket) -> Bool { a.id == b.id }

  /// Hashes the ticket's id.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension AcceptedTicket: CustomStringConvertible, CustomReflectable {
  /// A string that names the player, and shows nothing secret.
  public var description: String { "connect token of \(player)" }
  /// A mirror without the key, so that `dump` does not show it.
  public var customMirror: Mirror { Mirror(self, children: ["player": player]) }
}

/// The id of a ticket: its tag, which nobody can choose without the backend key.
package struct TicketID: Hashable, Sendable {
  private let high: UInt64
  private let low: UInt64
  /// The connection that asks with the ticket of a door token; zero for a ticket itself.
  private let question: (UInt64, UInt64)

  /// Creates the id from the last 16 bytes of a ticket.
  package init(_ ticket: [UInt8]) {
    let tag = ticket.suffix(XChaChaPoly.tagLength)
    high = tag.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    low = tag.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    question = (0, 0)
  }

  /// Creates the id of one question with the ticket `id`.
  fileprivate init(_ id: TicketID, question: (UInt64, UInt64)) {
    (high, low) = (id.high, id.low)
    self.question = question
  }

  /// Returns whether two ids are the same.
  package static func == (a: TicketID, b: TicketID) -> Bool {
    (a.high, a.low) == (b.high, b.low) && a.question == b.question
  }

  /// Hashes the tag and the question.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(low)
    hasher.combine(question.0)
  }
}

/// Reads tickets for a host and decides which ones the host accepts. `UsedTickets` decides whether
/// a ticket has been used before.
package struct TicketReader: Hashable, Sendable {
  /// The maximum number of backend keys. Each is tried in turn, so that a backend can change its
  /// key while tickets of the old one are still valid.
  package static let keyLimit = 4

  private let keys: [BackendKey]
  /// The time at which the host started.
  package var start: UnixTime
  private let endpoints: Set<Endpoint>?

  /// Creates the ticket reader of a host.
  ///
  /// - Parameters:
  ///   - keys: The backend keys, 1 to 4.
  ///   - start: The time at which the host started. The host does not know which tickets were used
  ///     before this time.
  ///   - endpoints: The endpoints at which clients reach the host, or nil if the host does not know
  ///     them because it is behind a proxy. If nil, the host accepts tickets for any host.
  package init(keys: [BackendKey], start: UnixTime, endpoints: Set<Endpoint>? = nil) {
    precondition((1...Self.keyLimit).contains(keys.count), "a host has 1 to 4 backend keys")
    self.keys = keys
    self.start = start
    self.endpoints = endpoints
  }

  /// Reads a ticket. All checks that need no key come first, so that most invalid tickets are
  /// refused without a decryption.
  ///
  /// A ticket that was made in the future is refused, and so is one that was made before the host
  /// started. Hence no ticket that was used before the host started is accepted again, however much
  /// the clocks of the backend and the host differ.
  ///
  /// Of a door token only the end counts: it takes no seat, so a host that has just started can
  /// answer too.
  ///
  /// `isHeld` is true if a connection for which the host has accepted the ticket still exists. The
  /// times of the ticket no longer matter then, because the connection may need another link.
  package func read(
    _ bytes: Span<UInt8>, isHeld: Bool = false, at now: UnixTime
  ) throws(ConnectTokenError) -> AcceptedTicket {
    let ticket: Ticket
    do throws(DecodeError) {
      ticket = try Ticket(decoding: bytes)
    } catch {
      throw .malformed(error)
    }
    guard isHeld || now < ticket.expiry else { throw .expired }
    if ticket.purpose == .joining {
      guard isHeld || ticket.made <= now else { throw .notYetValid }
      guard ticket.made > start else { throw .madeBeforeStart }
    }
    guard ticket.expiry <= ticket.made + ConnectToken.maximumLifetime else {
      throw .invalidLifetime
    }
    if let endpoints, endpoints.isDisjoint(with: ticket.hosts) { throw .otherHost }
    guard let content = ticket.open(with: keys) else { throw .notAuthentic }
    return AcceptedTicket(ticket, player: content.player, data: content.data, key: content.key)
  }
}
