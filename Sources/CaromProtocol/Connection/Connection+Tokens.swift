import CaromCore

#if canImport(CaromCrypto)
  import CaromCrypto
#endif

// Connections that begin with a connect token. On a datagram path, the request for a seat is part
// of the first message, so that the answer to it can be the grant. On a stream it is not: a
// listener can send the first message again on another stream, which must have no effect.
extension Connection {
  /// Begins the datagram path that the peer opens with a connect token. Returns false if the first
  /// message contains no request for a seat, or an unusable public key.
  mutating func beginPath(
    _ hello: Hello, _ opening: TokenOpening, from source: Route, at now: Instant
  ) -> Bool {
    guard let security = local.security, var own = secrets,
      let request = try? ControlPacket.decode(opening.payload.span), case .request = request,
      let answer = opening.answer(security, &own)
    else { return false }
    own.ticket = opening.use
    secrets = own
    return beginPath(
      hello, answer.handshake, answer.keys, with: request, from: source, at: now)
  }

  /// Removes and returns the first message of the stream's handshake, which waits for the decision
  /// about the ticket in it; nil if there is none.
  mutating func takeTicketMessage() -> [UInt8]? {
    defer { ticketMessage = nil }
    return ticketMessage
  }

  /// Carries out the decision about the ticket that the peer has presented on the stream.
  mutating func handle(_ decision: TicketDecision, at now: Instant) {
    guard !isEnding, stream != nil, stream?.keys == nil else { return }
    switch decision {
    case .accepted(let opening): acceptTicket(opening, at: now)
    case .refused(let code): close(Goodbye(code), as: Goodbye(code).reason, at: now)
    case .ignored: cutStream(at: now)
    }
  }

  private mutating func acceptTicket(_ opening: TokenOpening, at now: Instant) {
    guard let security = local.security, var own = secrets,
      let answer = opening.answer(security, &own)
    else { return cutStream(at: now) }
    own.ticket = opening.use
    secrets = own
    sendHandshake(answer.handshake)
    let limits = keyLimits
    stream?.begin(answer.keys, limits)
  }
}

#if canImport(CaromCrypto)
  extension Connection {
    /// Begins a handshake with this side's connect token. On a datagram path, `key` is the
    /// connection's key, and the message requests a seat; on a stream, `key` is `none`.
    func makeTokenHandshake(
      _ security: LinkSecurity, of key: ConnectionKey, _ secrets: inout LinkSecrets
    ) -> LinkHandshake {
      guard case .token(let token) = security.access else {
        preconditionFailure("a host that accepts tokens can join another host only with a token")
      }
      var payload: [UInt8] = []
      if key == .none {
        var writer = PacketWriter()
        writer.write(self.key.prefix)
        writer.write(self.key.rest)
        payload = writer.bytes
      } else {
        let request = ControlPacket.request(version: SessionWire.version, key, local.peer)
        request.withMessage { payload = Array(copying: $0) }
      }
      return .initiating(
        security, token: token, key: key, payload: payload,
        ephemeral: KeyPair(secret: secrets.next()))
    }
  }
#else
  extension Connection {
    func makeTokenHandshake(
      _ security: LinkSecurity, of key: ConnectionKey, _ secrets: inout LinkSecrets
    ) -> LinkHandshake { switch security {} }
  }
#endif
