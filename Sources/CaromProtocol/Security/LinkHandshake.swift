#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// One side of the handshake of a link (Noise XX) while it waits for the peer's next message. It
  /// never changes: reading a message yields what follows, and a rejected one has no effect.
  ///
  /// Each side repeats its last message until the peer has evidently received it. Repeating it
  /// takes no further public-key operation.
  final class LinkHandshake: Sendable {
    /// The protocol whose handshake this is. The text is part of what both sides must agree on.
    private static let protocolName = Array("carom session".utf8)

    /// This side's newest message.
    let message: [UInt8]
    /// The number of the newest message, from 1 to 3.
    let number: UInt8
    /// The peer's message that the newest message answers; empty if there is none.
    private let answered: [UInt8]
    private let noise: Handshake
    /// The ciphers that the initiator has offered or, on the responder's side, the one chosen.
    private let ciphers: [Cipher]

    private init(
      _ noise: Handshake, _ message: [UInt8], number: UInt8, answering answered: [UInt8] = [],
      ciphers: [Cipher]
    ) {
      self.noise = noise
      self.message = message
      self.number = number
      self.answered = answered
      self.ciphers = ciphers
    }

    /// What a side knows at the beginning of a handshake, apart from keys: the version, the
    /// initiator's offer and the link. If it differs on the two sides, the handshake fails.
    private static func prologue(offer: UInt8, key: ConnectionKey) -> [UInt8] {
      var writer = PacketWriter()
      writer.write(protocolName)
      writer.write(SessionWire.sealedVersion)
      writer.write(offer)
      writer.write(key.prefix)
      writer.write(key.rest)
      return writer.bytes
    }

    private static func begin(
      _ security: LinkSecurity, isInitiator: Bool, offer: UInt8, key: ConnectionKey,
      _ ephemeral: KeyPair
    ) -> Handshake {
      Handshake(
        .xx, cipher: .chaChaPoly, isInitiator: isInitiator,
        prologue: prologue(offer: offer, key: key), staticKey: security.identity.keys,
        ephemeralKey: ephemeral)
    }

    /// Begins a handshake, whose ephemeral key is made of the next secret. `key` is the key of the
    /// connection on a datagram path, and zeros on a stream.
    static func initiating(
      _ security: LinkSecurity, key: ConnectionKey, _ secrets: inout LinkSecrets
    ) -> LinkHandshake {
      initiating(security, key: key, ephemeral: KeyPair(secret: secrets.next()))
    }

    /// Begins a handshake with an ephemeral key that is used for nothing else.
    static func initiating(
      _ security: LinkSecurity, key: ConnectionKey, ephemeral: KeyPair
    ) -> LinkHandshake {
      let offer = CipherCode.offer(security.ciphers)
      var noise = begin(security, isInitiator: true, offer: offer, key: key, ephemeral)
      guard let message = try? noise.write() else {
        preconditionFailure("the first message needs no secret that the peer could spoil")
      }
      return LinkHandshake(noise, [offer] + message, number: 1, ciphers: security.ciphers)
    }

    /// Answers an initiator's first message. Returns nil if the message is malformed, or if this
    /// side supports none of the offered ciphers.
    static func responding(
      to first: Span<UInt8>, _ security: LinkSecurity, key: ConnectionKey,
      _ secrets: inout LinkSecrets
    ) -> LinkHandshake? {
      responding(
        to: first, security, key: key, ephemeral: KeyPair(secret: secrets.next()))
    }

    /// Answers an initiator's first message with an ephemeral key that is used for nothing else.
    static func responding(
      to first: Span<UInt8>, _ security: LinkSecurity, key: ConnectionKey, ephemeral: KeyPair
    ) -> LinkHandshake? {
      guard first.count > 1 else { return nil }
      let offer = first[0]
      guard let cipher = security.ciphers.first(where: { offer & CipherCode.bit(of: $0) != 0 })
      else { return nil }
      var noise = begin(security, isInitiator: false, offer: offer, key: key, ephemeral)
      do throws(HandshakeError) {
        guard try noise.read(first.extracting(1..<first.count)).isEmpty else { return nil }
        let message = try noise.write([CipherCode.bit(of: cipher)])
        return LinkHandshake(
          noise, message, number: 2, answering: Array(copying: first), ciphers: [cipher])
      } catch { return nil }
    }

    /// Returns whether this side's newest message answers `message`.
    func answers(_ message: Span<UInt8>) -> Bool { answered == Array(copying: message) }

    /// Reads the responder's message. Returns the handshake with the initiator's last message, and
    /// the keys of the link, or nil if the message is not authentic.
    func readAnswer(_ second: Span<UInt8>) -> (handshake: LinkHandshake, keys: LinkKeys)? {
      guard number == 1 else { return nil }
      var noise = noise
      do throws(HandshakeError) {
        let payload = try noise.read(second)
        guard payload.count == 1,
          let cipher = ciphers.first(where: { CipherCode.bit(of: $0) == payload[0] })
        else { return nil }
        let message = try noise.write()
        return (
          LinkHandshake(
            noise, message, number: 3, answering: Array(copying: second), ciphers: [cipher]),
          LinkKeys(noise, cipher: cipher)
        )
      } catch { return nil }
    }

    /// Reads the initiator's last message. Returns the keys of the link, or nil if the message is
    /// not authentic.
    func readEnd(_ third: Span<UInt8>) -> LinkKeys? {
      guard number == 2 else { return nil }
      var noise = noise
      do throws(HandshakeError) {
        guard try noise.read(third).isEmpty else { return nil }
        return LinkKeys(noise, cipher: ciphers[0])
      } catch { return nil }
    }
  }
#endif
