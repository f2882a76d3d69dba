#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// How a host secures its connections: its identity and the ciphers that it offers. All links of
  /// the host are encrypted, and peers without encryption are refused.
  package struct LinkSecurity: Sendable {
    package let identity: Identity
    /// The ciphers that this side accepts, best first.
    let ciphers: [Cipher]
    /// The beginning of the host's sequence of secrets, from which it derives the ephemeral keys of
    /// its handshakes.
    fileprivate let seed: SecretBytes

    /// Creates the settings of one host. `seed` must have 32 random bytes and be used for nothing
    /// else. Ciphers that this processor cannot use are left out.
    package init(
      _ identity: Identity, seed: SecretBytes, ciphers: [Cipher] = [.aesGCM, .chaChaPoly]
    ) {
      self.identity = identity
      self.seed = seed
      self.ciphers = ciphers.filter(\.isAvailable)
    }

    /// Returns the tag of refusals for the connection with this key, of all hosts with this secret.
    func makeRefusalTag(of key: ConnectionKey, secret: HostSecret) -> AuthenticationTag {
      var writer = PacketWriter()
      writer.write(secret.low)
      writer.write(secret.high)
      let hostKey = SecretBytes(copying: writer.bytes.span)
      var message = PacketWriter()
      message.write(Array("Carom refusal".utf8))
      message.write(key.prefix)
      message.write(key.rest)
      return AuthenticationTag(
        hostKey.authenticate(message.bytes, length: AuthenticationTag.length).reveal())
    }
  }

  /// A sequence of secrets from which the ephemeral keys of handshakes are made.
  package struct LinkSecrets: Sendable {
    private var source: SecretSource

    /// Creates the sequence of a host.
    init(_ security: LinkSecurity) { source = SecretSource(seed: security.seed) }

    private init(_ source: SecretSource) { self.source = source }

    /// Returns the next secret.
    mutating func next() -> SecretBytes { source.next() }

    /// Returns a sequence for one connection, which begins with the next secret.
    mutating func makeSequence() -> LinkSecrets {
      LinkSecrets(SecretSource(seed: source.next()))
    }
  }

  /// The bytes of a handshake that stand for ciphers.
  enum CipherCode {
    /// Returns the offer of `ciphers`: one bit for each.
    static func offer(_ ciphers: [Cipher]) -> UInt8 { ciphers.reduce(0) { $0 | bit(of: $1) } }

    /// Returns the bit of a cipher in an offer, which also stands for the choice of the cipher.
    static func bit(of cipher: Cipher) -> UInt8 { cipher == .chaChaPoly ? 1 : 2 }
  }
#endif
