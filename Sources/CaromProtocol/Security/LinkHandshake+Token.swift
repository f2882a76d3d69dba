#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// The use of a ticket by a connection.
  struct TicketUse: Hashable, Sendable {
    let ticket: AcceptedTicket
    /// The key of the connection that has used the ticket.
    let owner: ConnectionKey
  }

  // Handshakes with a connect token (Noise NNpsk0), whose key both sides know: the host reads it in
  // the ticket that the initiator sends. There are two messages.
  extension LinkHandshake {
    /// Begins a handshake with a connect token as the initiator. `payload` is encrypted with the
    /// token's key.
    static func initiating(
      _ security: LinkSecurity, token: ConnectToken, key: ConnectionKey, payload: [UInt8],
      ephemeral: KeyPair
    ) -> LinkHandshake {
      let offer = HandshakeOffer.byte(of: security.pattern, security.ciphers)
      var noise = Handshake(
        .nnpsk0, cipher: .chaChaPoly, isInitiator: true,
        prologue: prologue(offer: offer, key: key), ephemeralKey: ephemeral,
        presharedKey: token.key)
      guard let message = try? noise.write(payload) else {
        preconditionFailure("the first message needs no secret that the peer could spoil")
      }
      var writer = PacketWriter()
      writer.write(offer)
      writer.write(UInt16(token.ticketBytes.count))
      writer.write(token.ticketBytes)
      writer.write(message)
      return LinkHandshake(noise, writer.bytes, number: 1, ciphers: security.ciphers)
    }

    /// Whether the initiator of the handshake has a connect token.
    var usesToken: Bool { noise.usesToken }

    /// Reads the responder's message of a handshake with a connect token. Returns the keys of the
    /// link, or nil if the message is not authentic.
    func readTokenAnswer(_ second: Span<UInt8>) -> DerivedKeys? {
      var noise = noise
      guard let payload = try? noise.read(second), payload.count == TokenOpening.answerLength,
        let cipher = ciphers.first(where: { HandshakeOffer.bit(of: $0) == payload[0] })
      else { return nil }
      var reader = PacketReader(payload.span.extracting(1...))
      guard let high: UInt64 = try? reader.readBigEndian(),
        let low: UInt64 = try? reader.readBigEndian()
      else { return nil }
      return DerivedKeys(noise, cipher: cipher, peer: PeerID(high: high, low: low))
    }
  }

  /// An initiator's first message with a connect token, which the host has found to be authentic.
  /// Nothing has been computed with public keys yet.
  struct TokenOpening: Sendable {
    /// The length in bytes of the payload of the answer: the choice of a cipher, and the host's id.
    static let answerLength = 17

    let use: TicketUse
    /// The decrypted payload of the message.
    let payload: [UInt8]
    private let message: [UInt8]
    private let noise: Handshake
    private let cipher: Cipher

    /// The parts of a message before it is known to be authentic.
    struct Parts {
      let message: [UInt8]
      let offer: UInt8
      let ticket: [UInt8]
      /// Where the message of the Noise protocol begins, in bytes.
      let start: Int

      /// Reads the parts of a message. Returns nil if it is malformed or has another pattern.
      init?(_ message: Span<UInt8>, _ security: LinkSecurity) {
        guard security.hasOwnPattern(message) else { return nil }
        var reader = PacketReader(message)
        guard let offer = try? reader.read(UInt8.self),
          let length = try? reader.read(UInt16.self),
          let ticket = try? reader.readBytes(Int(length))
        else { return nil }
        self.message = Array(copying: message)
        self.offer = offer
        self.ticket = ticket
        start = reader.offset
      }
    }

    /// Decrypts a message with the key of `ticket`. On a datagram path, `key` is the connection's
    /// key. On a stream, it is nil, and the payload is the key. Returns nil if the message is not
    /// authentic.
    init?(
      _ parts: Parts, ticket: AcceptedTicket, key: ConnectionKey?, _ security: LinkSecurity
    ) {
      var noise = Handshake(
        .nnpsk0, cipher: .chaChaPoly, isInitiator: false,
        prologue: LinkHandshake.prologue(offer: parts.offer, key: key ?? .none),
        presharedKey: ticket.key)
      guard let cipher = security.chooseCipher(from: parts.offer),
        let payload = try? noise.read(parts.message.span.extracting(parts.start...)),
        let owner = key ?? ConnectionKey(decoding: payload)
      else { return nil }
      use = TicketUse(ticket: ticket.used(by: (owner.prefix, owner.rest)), owner: owner)
      self.payload = payload
      message = parts.message
      self.noise = noise
      self.cipher = cipher
    }

    /// Answers the message with an ephemeral key made from the next secret in `secrets`. Returns
    /// the handshake with the answer, and the keys of the link, or nil if the initiator's public
    /// key is weak.
    func answer(
      _ security: LinkSecurity, _ secrets: inout LinkSecrets
    ) -> (handshake: LinkHandshake, keys: DerivedKeys)? {
      guard let id = security.identity?.id else {
        preconditionFailure("a host that accepts tokens needs an identity")
      }
      return answer(as: id, ephemeral: KeyPair(secret: secrets.next()))
    }

    /// Answers the message as the host with the id `host`. `ephemeral` must be used for nothing
    /// else.
    func answer(
      as host: PeerID, ephemeral: KeyPair
    ) -> (handshake: LinkHandshake, keys: DerivedKeys)? {
      var noise = noise
      noise.ephemeralKey = ephemeral
      var payload = PacketWriter()
      payload.write(HandshakeOffer.bit(of: cipher))
      payload.writeBigEndian(host.high)
      payload.writeBigEndian(host.low)
      guard let answer = try? noise.write(payload.bytes) else { return nil }
      return (
        LinkHandshake(noise, answer, number: 2, answering: message, ciphers: [cipher]),
        DerivedKeys(noise, cipher: cipher, peer: use.ticket.player, ticket: use)
      )
    }
  }

  extension ConnectionKey {
    /// Creates the key that `bytes` consists of. Returns nil for anything but 16 bytes, and for the
    /// key `none`.
    fileprivate init?(decoding bytes: [UInt8]) {
      var reader = PacketReader(bytes.span)
      guard let prefix: UInt64 = try? reader.read(), let rest: UInt64 = try? reader.read(),
        reader.remaining == 0
      else { return nil }
      self.init(prefix: prefix, rest: rest)
      if self == .none { return nil }
    }
  }
#endif
