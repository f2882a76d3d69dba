#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// One side of the handshake of a link (Noise XX, IK with a host whose key is known, XXpsk3 with
  /// a code, or NNpsk0 with a connect token) while it waits for the peer's next message. A
  /// handshake is immutable: reading a message returns the outcome as new values, and rejecting a
  /// message has no effect.
  ///
  /// Each side repeats its last message until the peer has evidently received it. Repeating a
  /// message requires no further public-key operation.
  final class LinkHandshake: Sendable {
    /// The name of the protocol to which the handshake belongs. It is part of the prologue, on
    /// which both sides must agree.
    private static let protocolName = Array("carom session".utf8)

    /// This side's newest message.
    let message: [UInt8]
    /// The number of the newest message, from 1 to 3.
    let number: UInt8
    /// The responder's message, which the initiator has received but will answer later; empty if
    /// there is none.
    let held: [UInt8]
    /// The peer's message that the newest message answers, after the hello that it is bound to, if
    /// any; empty if there is no such message.
    private let answered: [UInt8]
    let noise: Handshake
    /// The ciphers that the initiator has offered or, on the responder's side, the one chosen.
    let ciphers: [Cipher]
    /// The password exchange that proves knowledge of the code, on the initiator's side; nil on the
    /// responder's side, or without a code.
    private let exchange: PasswordExchange?
    /// What an initiator that knows the host's key needs in addition; nil otherwise.
    let known: KnownHost?

    init(
      _ noise: Handshake, _ message: [UInt8], number: UInt8, answering answered: [UInt8] = [],
      ciphers: [Cipher], exchange: PasswordExchange? = nil, known: KnownHost? = nil,
      holding held: [UInt8] = []
    ) {
      self.noise = noise
      self.message = message
      self.number = number
      self.answered = answered
      self.ciphers = ciphers
      self.exchange = exchange
      self.known = known
      self.held = held
    }

    /// Returns a copy of the handshake that holds the responder's message, to be answered later.
    func holding(_ second: [UInt8]) -> LinkHandshake {
      LinkHandshake(
        noise, message, number: number, answering: answered, ciphers: ciphers, exchange: exchange,
        known: known, holding: second)
    }
  }

  // MARK: - The beginning
  extension LinkHandshake {
    /// The random values from which one side of a handshake makes its secrets. Each value is used
    /// only once.
    struct Randomness {
      var ephemeral: KeyPair
      /// The 64 random bytes for the password exchange that proves knowledge of the code; nil
      /// without a code.
      var exchange: SecretBytes?

      init(ephemeral: KeyPair, exchange: SecretBytes? = nil) {
        self.ephemeral = ephemeral
        self.exchange = exchange
      }

      /// Creates the random values of a handshake from the next secrets in `secrets`.
      init(_ secrets: inout LinkSecrets, for security: LinkSecurity) {
        ephemeral = KeyPair(secret: secrets.next())
        if security.usesCode { exchange = SecretBytes(secrets.next(), secrets.next()) }
      }
    }

    /// Returns the prologue of a handshake. It contains what a side knows at the beginning, apart
    /// from its own keys: the protocol's name and version, the initiator's offer, and the
    /// connection key of the link. If the prologues of the two sides differ, the handshake fails.
    static func prologue(offer: UInt8, key: ConnectionKey) -> [UInt8] {
      var writer = PacketWriter()
      writer.write(protocolName)
      writer.write(SessionWire.sealedVersion)
      writer.write(offer)
      writer.write(key.prefix)
      writer.write(key.rest)
      return writer.bytes
    }

    /// Begins a handshake in which this side has its static key.
    static func begin(
      _ pattern: HandshakePattern, _ security: LinkSecurity, isInitiator: Bool, prologue: [UInt8],
      _ ephemeral: KeyPair, host: PublicKey? = nil
    ) -> Handshake {
      Handshake(
        pattern, cipher: .chaChaPoly, isInitiator: isInitiator, prologue: prologue,
        staticKey: security.identity?.keys, remoteStatic: host, ephemeralKey: ephemeral)
    }

    /// Begins the password exchange that proves knowledge of the code. `ephemeral` is the
    /// initiator's ephemeral public key, which is different in each handshake. Returns nil without
    /// a code.
    private static func makeExchange(
      _ security: LinkSecurity, isInitiator: Bool, prologue: [UInt8], ephemeral: [UInt8],
      _ randomness: Randomness
    ) -> PasswordExchange? {
      guard case .code(let code, _) = security.access else { return nil }
      guard let bytes = randomness.exchange else {
        preconditionFailure("a handshake with a code needs randomness for the exchange")
      }
      return PasswordExchange(
        password: code.password, channel: prologue, sessionID: ephemeral,
        isInitiator: isInitiator, randomness: bytes)
    }

    /// Begins a handshake as the initiator, with an ephemeral key made from the next secret in
    /// `secrets`. On a datagram path, `key` is the connection's key; on a stream, it is all zeros.
    static func initiating(
      _ security: LinkSecurity, key: ConnectionKey, _ secrets: inout LinkSecrets
    ) -> LinkHandshake {
      initiating(security, key: key, Randomness(&secrets, for: security))
    }

    /// Begins a handshake as the initiator. `randomness` must be used for nothing else.
    static func initiating(
      _ security: LinkSecurity, key: ConnectionKey, _ randomness: Randomness
    ) -> LinkHandshake {
      let offer = HandshakeOffer.byte(of: security.pattern, security.ciphers)
      let prologue = prologue(offer: offer, key: key)
      let ephemeral = randomness.ephemeral
      let exchange = makeExchange(
        security, isInitiator: true, prologue: prologue, ephemeral: ephemeral.publicKey.bytes,
        randomness)
      var noise = begin(
        security.pattern, security, isInitiator: true, prologue: prologue, ephemeral)
      guard let message = try? noise.write(exchange?.share ?? []) else {
        preconditionFailure("the first message needs no secret that the peer could spoil")
      }
      return LinkHandshake(
        noise, [offer] + message, number: 1, ciphers: security.ciphers, exchange: exchange)
    }

    /// Answers an initiator's first message. `randomness` must be used for nothing else. Returns
    /// nil if the message is malformed, if its pattern is not this side's, or if this side supports
    /// none of the offered ciphers.
    static func responding(
      to first: Span<UInt8>, _ security: LinkSecurity, key: ConnectionKey,
      _ randomness: Randomness
    ) -> LinkHandshake? {
      guard first.count > PublicKey.length, security.hasOwnPattern(first), !security.usesTokens,
        !HandshakeOffer.isForKnownHost(first), let cipher = security.chooseCipher(from: first[0])
      else { return nil }
      let prologue = prologue(offer: first[0], key: key)
      var noise = begin(
        security.pattern, security, isInitiator: false, prologue: prologue, randomness.ephemeral)
      do throws(HandshakeError) {
        let share = try noise.read(first.extracting(1..<first.count))
        var choice = [HandshakeOffer.bit(of: cipher)]
        let ephemeral = Array(copying: first.extracting(1...PublicKey.length))
        if let exchange = makeExchange(
          security, isInitiator: false, prologue: prologue, ephemeral: ephemeral, randomness)
        {
          guard let secret = exchange.makeKey(share: share) else { return nil }
          noise.presharedKey = secret.prefix(presharedKeyLength)
          choice += exchange.share
        } else {
          guard share.isEmpty else { return nil }
        }
        let message = try noise.write(choice)
        return LinkHandshake(
          noise, message, number: 2, answering: Array(copying: first), ciphers: [cipher])
      } catch { return nil }
    }

    /// The length in bytes of a pre-shared key.
    static let presharedKeyLength = 32
  }

  // MARK: - The further messages
  extension LinkHandshake {
    /// Returns whether this side's newest message answers `message`, which has arrived behind
    /// `hello`. A first message for a known host is bound to its hello, and so is the answer.
    func answers(_ message: Span<UInt8>, behind hello: Hello) -> Bool {
      let bound = HandshakeOffer.isForKnownHost(message) ? hello.encoded : []
      return answered == bound + Array(copying: message)
    }

    /// Reads the responder's message. Returns the handshake with the initiator's last message, and
    /// the keys of the link, or nil if the message is not authentic. The handshake is nil if the
    /// initiator has no further message. The message does not show whether the responder knows the
    /// code; the first packet from the responder that can be decrypted does.
    func readAnswer(_ second: Span<UInt8>) -> (handshake: LinkHandshake?, keys: DerivedKeys)? {
      guard number == 1 else { return nil }
      if usesToken {
        return readTokenAnswer(second).map { (handshake: nil, keys: $0) }
      }
      if let known { return readAnswer(second, known) }
      var noise = noise
      do throws(HandshakeError) {
        let payload = try noise.read(second)
        guard let choice = payload.first,
          let cipher = ciphers.first(where: { HandshakeOffer.bit(of: $0) == choice })
        else { return nil }
        if let exchange {
          guard let secret = exchange.makeKey(share: Array(payload[1...])) else { return nil }
          noise.presharedKey = secret.prefix(Self.presharedKeyLength)
        } else {
          guard payload.count == 1 else { return nil }
        }
        let message = try noise.write()
        return (
          LinkHandshake(
            noise, message, number: 3, answering: Array(copying: second), ciphers: [cipher]),
          DerivedKeys(noise, cipher: cipher)
        )
      } catch { return nil }
    }

    /// Reads the initiator's last message. Returns nil if the message is not authentic.
    func readEnd(_ third: Span<UInt8>) -> HandshakeEnd? {
      guard number == 2 else { return nil }
      var noise = noise
      do throws(HandshakeError) {
        guard try noise.read(third).isEmpty else { return nil }
        return .keys(DerivedKeys(noise, cipher: ciphers[0]))
      } catch .wrongPresharedKey {
        return .wrongCode
      } catch { return nil }
    }
  }
#endif
