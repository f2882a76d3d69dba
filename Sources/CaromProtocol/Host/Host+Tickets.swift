import CaromCore

#if canImport(CaromCrypto)
  import CaromCrypto
#endif

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
    if let id = keys[hello.key] {
      // The hello was duplicated, its answer was lost, or the connection began on a stream.
      let address = PathAddress(endpoint: source.endpoint, sender: .initiator)
      guard paths[address] == id else { return sendRetry(for: hello, to: source, at: now) }
      acceptHello(hello, tail, from: source, hasEnded: false, at: now)
    } else {
      guard side.security?.acceptsTickets == true else {
        return sendRetry(for: hello, to: source, at: now)
      }
      if deferToDirectory(hello, bytes, from: source) { return }
      acceptHello(hello, tail, from: source, hasEnded: hasEnded(hello.key), at: now)
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
    guard let index = index(of: id), let message = entries[index].connection.takeTicketMessage()
    else { return }
    let decision = decide(aboutTicketIn: message.span, of: nil, at: now)
    entries[index].connection.handle(decision, at: now)
    refresh(index, at: now)
  }
}

#if canImport(CaromCrypto)
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

    /// Releases the ticket of a connection that is removed, unless the ticket belongs to another
    /// connection, of which this one was a link.
    mutating func releaseTicket(of entry: Entry) {
      guard let use = entry.connection.secrets?.ticket else { return }
      guard member == nil else {
        return directoryRequests.append(.releaseTicket(use, entry.id))
      }
      if keys[use.owner].map({ $0 == entry.id }) ?? true { tickets?.release(use.ticket) }
    }
  }
#else
  extension Host {
    mutating func decide(
      aboutTicketIn message: Span<UInt8>, of key: ConnectionKey?, at now: Instant
    ) -> TicketDecision { .ignored }
    mutating func releaseTicket(of entry: Entry) {}
  }
#endif
