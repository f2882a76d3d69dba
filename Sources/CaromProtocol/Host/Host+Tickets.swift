import CaromCore
import CaromCrypto

// Connect tokens. A ticket is used by the connection that presents it first; all links of that
// connection may present it again, for as long as the connection exists.
extension Host {
  /// Receives a hello that is followed by the first message of a handshake with a connect token,
  /// from a sender that has not proven its address. An accepted ticket starts a connection, which
  /// sends little until a packet arrives from the address.
  mutating func receiveTicket(
    _ hello: Hello, _ bytes: Span<UInt8>, from source: Route, at now: Instant
  ) {
    let tail = HelloTail(of: bytes, after: hello)
    guard tail.part?.number == 1 else { return }
    guard acceptsTickets else {
      return sendRetry(for: hello, to: source, at: now)
    }
    if let id = keys[hello.key] {
      // The hello was duplicated, its answer was lost, or the connection began on a stream.
      let address = PathAddress(endpoint: source.endpoint, sender: .initiator)
      guard paths[address] == id else { return sendRetry(for: hello, to: source, at: now) }
      acceptHello(hello, tail, from: source, .new, at: now)
    } else {
      if deferToDirectory(hello, bytes, from: source) { return }
      acceptHello(hello, tail, from: source, findHistory(of: hello.key, at: now), at: now)
    }
  }

  /// Decides about the ticket that a peer has presented on a stream. In a group, asks the directory
  /// to decide instead.
  mutating func handleTicket(on id: ConnectionID, at now: Instant) {
    if member == nil {
      resolveTicket(on: id, at: now)
    } else {
      directoryRequests.append(.ticket(id))
    }
  }

  /// Decides about the ticket that a peer has presented on a stream, with the tickets of the host
  /// or of its group.
  mutating func resolveTicket(on id: ConnectionID, at now: Instant) {
    guard let index = index(of: id), !entries[index].connection.isEnding,
      let message = entries[index].connection.takeTicketMessage()
    else { return }
    let decision = decide(aboutTicketIn: message.span, of: nil, at: now)
    entries[index].connection.handle(decision, at: now)
    holdTicket(of: entries[index].connection)
    refresh(index, at: now)
  }
}

// MARK: - Decisions
extension Host {
  /// Sets the wall clock, which decides whether connect tokens are valid. Call this before each
  /// batch of input if the host accepts tokens.
  package mutating func setWallClock(_ time: UnixTime, at now: Instant) {
    wallClockOffset = time.milliseconds - now.nanoseconds / 1_000_000
  }

  mutating func decide(
    aboutTicketIn message: Span<UInt8>, of key: ConnectionKey?, at now: Instant
  ) -> TicketDecision {
    guard let security = side.security, tickets != nil else { return .ignored }
    let time = UnixTime(milliseconds: wallClockOffset + now.nanoseconds / 1_000_000)
    return security.decide(message, of: key, &tickets!, at: time)
  }

  /// Records that a new connection holds its ticket, if it has one.
  mutating func holdTicket(of connection: Connection) {
    guard let use = connection.secrets?.ticket else { return }
    strangerStatistics.withToken += 1
    tickets?.hold(use.ticket, by: use.owner)
  }

  /// Returns whether the connection at `index`, whose request has arrived late on its stream, has
  /// presented a ticket that was given up in the meantime: with the connection to which both of
  /// them belonged. In a group, only the directory knows.
  func hasLostTicket(_ index: Int) -> Bool {
    guard let tickets, let use = entries[index].connection.secrets?.ticket else { return false }
    return tickets.holder(of: use.ticket.id) != use.owner
  }

  /// Returns whether the peer of the connection at `index` has a door token, with which it asks a
  /// question.
  func isQuestion(_ index: Int) -> Bool {
    entries[index].connection.secrets?.ticket?.ticket.isForDoors == true
  }

  /// Releases the ticket of a connection that is removed.
  mutating func releaseTicket(of entry: Entry) {
    guard let use = entry.connection.secrets?.ticket else { return }
    let hasKey = entry.connection.key == use.owner
    guard member == nil else {
      return directoryRequests.append(.releaseTicket(use, entry.id, hasKey: hasKey))
    }
    release(use, of: entry.id, hasKey: hasKey, owner: keys[use.owner])
  }

  /// Releases the ticket of the removed connection `id`. `hasKey` is true if the connection had
  /// the ticket's key, and `owner` is the connection to which this key belongs, if any.
  ///
  /// If the connection was only a link of its owner, the ticket still belongs to that one. If it
  /// ended before its request, the peer may try again with the same key.
  mutating func release(
    _ use: TicketUse, of id: ConnectionID, hasKey: Bool, owner: ConnectionID?
  ) {
    guard hasKey else {
      tickets?.drop(use.ticket)
      return
    }
    if let owner, owner != id {
      let other = index(of: owner).flatMap { entries[$0].connection.secrets?.ticket }
      guard let other, other.ticket.id != use.ticket.id else {
        tickets?.drop(use.ticket)
        return
      }
    }
    tickets?.release(use.ticket)
  }
}
