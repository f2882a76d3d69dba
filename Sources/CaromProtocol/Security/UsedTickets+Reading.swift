#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// The tickets that the connections of a host, or of a group of hosts, have used.
  typealias TicketBook = UsedTickets<ConnectionKey>

  /// A host's decision about an initiator's first message with a connect token.
  enum TicketDecision {
    case accepted(TokenOpening)
    /// The host refuses the token for this reason.
    case refused(Goodbye.Code)
    /// The message is malformed or not authentic, so it has no effect.
    case ignored
  }

  extension LinkSecurity {
    /// Returns an empty book for a host that accepts tickets; nil for any other.
    func makeTicketBook() -> TicketBook? { acceptsTickets ? TicketBook() : nil }

    /// Decides about an initiator's first message with a connect token, and records the use of an
    /// accepted ticket in `book`. On a datagram path, `key` is the connection's key; on a stream,
    /// it is nil.
    ///
    /// A ticket counts as used only if the rest of the message is authentic. Somebody who has
    /// overheard the ticket alone can therefore not use it up. The connection that begins with the
    /// message holds the ticket, if one begins.
    func decide(
      _ message: Span<UInt8>, of key: ConnectionKey?, _ book: inout TicketBook, at now: UnixTime
    ) -> TicketDecision {
      guard case .tickets(let reader) = access, let parts = TokenOpening.Parts(message, self) else {
        return .ignored
      }
      let isHeld = book.holder(of: TicketID(parts.ticket)) != nil
      let ticket: AcceptedTicket
      do throws(ConnectTokenError) {
        ticket = try reader.read(parts.ticket.span, isHeld: isHeld, at: now)
      } catch { return .refused(Goodbye.Code(error)) }
      guard let opening = TokenOpening(parts, ticket: ticket, key: key, self) else {
        return .ignored
      }
      let use = opening.use
      if let holder = book.holder(of: use.ticket.id) {
        return holder == use.owner ? .accepted(opening) : .refused(.tokenUsed)
      }
      switch book.use(use.ticket, by: use.owner, at: now) {
      case .first, .repeated: return .accepted(opening)
      case .used: return .refused(.tokenUsed)
      case .expired: return .refused(.tokenExpired)
      case .full: return .refused(.busy)
      }
    }

    /// Reads an initiator's first message on another link of the connection that has used `use`.
    /// Returns nil if the message has another ticket or is not authentic.
    func open(_ message: Span<UInt8>, of key: ConnectionKey, as use: TicketUse) -> TokenOpening? {
      guard let parts = TokenOpening.Parts(message, self),
        TicketID(parts.ticket) == use.ticket.ticketID
      else { return nil }
      return TokenOpening(parts, ticket: use.ticket, key: key, self)
    }
  }

  extension Goodbye.Code {
    /// The code with which a host refuses a ticket because of `error`.
    fileprivate init(_ error: ConnectTokenError) {
      self =
        switch error {
        case .expired: .tokenExpired
        case .notYetValid: .tokenNotYetValid
        case .madeBeforeStart: .tokenBeforeStart
        case .otherHost: .tokenForOtherHost
        case .malformed, .notAuthentic, .invalidLifetime, .tooManyHosts, .invalidHost, .tooMuchData:
          .tokenInvalid
        }
    }
  }
#endif
