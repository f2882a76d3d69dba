#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// What an initiator that knows the host's key needs to read the answer to its first message.
  struct KnownHost: Sendable {
    /// What the first message is bound to: the hello before it, or nothing on a stream.
    let hello: [UInt8]
    /// The handshake with which the initiator continues if the host does not use the known key.
    let fallback: Handshake
  }

  /// The answer of a responder to an initiator's first message.
  enum HandshakeAnswer {
    /// There is none: the message is malformed, its pattern is not this side's, or this side
    /// supports none of the offered ciphers.
    case rejected
    /// The initiator has a further message.
    case second(LinkHandshake)
    /// The handshake is complete for the responder: the initiator knows the responder's key, and
    /// has proven its own. `payload` is the decrypted payload of the first message, which somebody
    /// could have recorded and sent again.
    case last(LinkHandshake, DerivedKeys, payload: [UInt8])
  }

  // Handshakes with a host whose key the initiator knows beforehand (Noise IK). There are two
  // messages, and the first proves the initiator. A responder that cannot decrypt the first
  // message, because its key is another one, takes the ephemeral key from it and answers as in the
  // pattern XX. The initiator then learns the responder's key and decides whether it trusts it.
  extension LinkHandshake {
    /// The length in bytes of everything in the first message but the payload: the offer, the
    /// initiator's keys, and two tags.
    private static let openingLength = 1 + 2 * PublicKey.length + 2 * Cipher.tagLength
    /// The length in bytes of the responder's message: its ephemeral key, the choice and a tag. The
    /// responder's message in the pattern XX is longer.
    private static let answerLength = PublicKey.length + 1 + Cipher.tagLength

    /// Begins a handshake as the initiator with a host that should have the key `host`. `payload`
    /// is encrypted with that key. Everything in `hello`, the hello before the message, must arrive
    /// unchanged, so the message is of no use from another address. `ephemeral` must be used for
    /// nothing else. Returns nil if nothing can be encrypted with the key.
    static func initiating(
      _ security: LinkSecurity, host: PublicKey, key: ConnectionKey, hello: [UInt8],
      payload: [UInt8], ephemeral: KeyPair
    ) -> LinkHandshake? {
      let offer = HandshakeOffer.byte(of: .ik, security.ciphers)
      let prologue = prologue(offer: offer, key: key) + hello
      var noise = begin(
        .ik, security, isInitiator: true, prologue: prologue, ephemeral, host: host)
      guard let opening = try? noise.write(payload) else { return nil }
      let message = [offer] + opening
      var fallback = beginFallback(
        security, isInitiator: true, prologue: prologue, after: message, ephemeral)
      guard (try? fallback.write()) != nil else { return nil }
      return LinkHandshake(
        noise, message, number: 1, ciphers: security.ciphers,
        known: KnownHost(hello: hello, fallback: fallback))
    }

    /// Begins the handshake with the pattern XX whose two sides have both seen `opening`.
    private static func beginFallback(
      _ security: LinkSecurity, isInitiator: Bool, prologue: [UInt8], after opening: [UInt8],
      _ ephemeral: KeyPair
    ) -> Handshake {
      begin(.xx, security, isInitiator: isInitiator, prologue: prologue + opening, ephemeral)
    }

    /// Answers an initiator's first message, which is bound to `hello`. If `acceptsKnown` is false,
    /// this side answers a message with the pattern IK as if it could not decrypt it.
    static func answering(
      _ first: Span<UInt8>, _ security: LinkSecurity, key: ConnectionKey, hello: [UInt8],
      acceptsKnown: Bool, _ secrets: inout LinkSecrets
    ) -> HandshakeAnswer {
      guard HandshakeOffer.isForKnownHost(first) else {
        let randomness = Randomness(&secrets, for: security)
        return responding(to: first, security, key: key, randomness).map { .second($0) }
          ?? .rejected
      }
      return answering(
        first, security, key: key, hello: hello, acceptsKnown: acceptsKnown,
        ephemeral: KeyPair(secret: secrets.next()))
    }

    /// Answers an initiator's first message with the pattern IK. `ephemeral` must be used for
    /// nothing else.
    static func answering(
      _ first: Span<UInt8>, _ security: LinkSecurity, key: ConnectionKey, hello: [UInt8],
      acceptsKnown: Bool, ephemeral: KeyPair
    ) -> HandshakeAnswer {
      guard first.count >= openingLength, security.hasOwnPattern(first),
        let cipher = security.chooseCipher(from: first[0])
      else { return .rejected }
      let message = Array(copying: first)
      let choice = [HandshakeOffer.bit(of: cipher)]
      let prologue = prologue(offer: first[0], key: key) + hello
      var noise = begin(.ik, security, isInitiator: false, prologue: prologue, ephemeral)
      if acceptsKnown, let payload = try? noise.read(first.extracting(1...)) {
        guard let answer = try? noise.write(choice) else { return .rejected }
        return .last(
          LinkHandshake(noise, answer, number: 2, answering: hello + message, ciphers: [cipher]),
          DerivedKeys(noise, cipher: cipher, usesKnownKey: true), payload: payload)
      }
      var fallback = beginFallback(
        security, isInitiator: false, prologue: prologue, after: message, ephemeral)
      guard (try? fallback.read(first.extracting(1...PublicKey.length))) != nil,
        let answer = try? fallback.write(choice)
      else { return .rejected }
      return .second(
        LinkHandshake(fallback, answer, number: 2, answering: hello + message, ciphers: [cipher]))
    }

    /// Reads the responder's message. Its length shows whether the responder has the known key.
    func readAnswer(
      _ second: Span<UInt8>, _ known: KnownHost
    ) -> (handshake: LinkHandshake?, keys: DerivedKeys)? {
      guard second.count == Self.answerLength else {
        return LinkHandshake(known.fallback, message, number: 1, ciphers: ciphers)
          .readAnswer(second)
      }
      var noise = noise
      guard let payload = try? noise.read(second),
        let cipher = ciphers.first(where: { [HandshakeOffer.bit(of: $0)] == payload })
      else { return nil }
      return (nil, DerivedKeys(noise, cipher: cipher, usesKnownKey: true))
    }
  }
#endif
