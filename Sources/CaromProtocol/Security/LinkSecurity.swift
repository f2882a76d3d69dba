#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// How a host secures its connections: its identity and the ciphers that it offers. All links of
  /// the host are encrypted, and peers without encryption are refused.
  package struct LinkSecurity: Sendable {
    /// This side's identity; nil if this side has a connect token instead.
    package let identity: Identity?
    /// The peers whose links this side accepts.
    package let access: LinkAccess
    /// The ciphers that this side accepts, best first.
    let ciphers: [Cipher]
    /// When the keys of a link are replaced.
    package var keyLimits = KeyLimits()
    /// The seed of the host's sequence of secrets, from which the host derives the ephemeral keys
    /// of its handshakes; nil once the host has taken it.
    private var seed: SecretBytes?

    /// Creates the settings of one host. `seed` must consist of 32 random bytes that are used for
    /// nothing else. Ciphers that this processor cannot use are left out of `ciphers`. AES-256-GCM
    /// is faster than ChaCha20-Poly1305.
    package init(
      _ identity: Identity?, access: LinkAccess = .anyone, seed: SecretBytes,
      ciphers: [Cipher] = [.aesGCM, .chaChaPoly]
    ) {
      precondition(
        identity != nil || access.isToken, "only a side with a connect token needs no identity")
      self.identity = identity
      self.access = access
      self.seed = seed
      self.ciphers = ciphers.filter(\.isAvailable)
    }

    /// Returns the secrets of the host. They begin with the seed, which is forgotten, because the
    /// ephemeral keys of all handshakes can be computed from it. Call this once.
    mutating func takeSecrets() -> LinkSecrets {
      guard let seed else { preconditionFailure("the secrets of a host are taken once") }
      self.seed = nil
      return LinkSecrets(SecretSource(seed: seed))
    }

    /// Returns the tag that the refusals of the connection with this key carry. All hosts with this
    /// secret compute the same tag.
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

  extension LinkAccess {
    fileprivate var isToken: Bool { if case .token = self { true } else { false } }
  }

  /// The secrets of a host or of a connection: a sequence from which the ephemeral keys of
  /// handshakes are made, the tag of refusals that the initiator of a connection got from the host,
  /// the ticket with which the initiator got in, and the key that the host advertises.
  package struct LinkSecrets: Sendable {
    private struct Values: Sendable {
      var source: SecretSource
      var refusalTag: AuthenticationTag?
      var ticket: TicketUse?
      var advertisedKey: PublicKey?
    }

    /// The values, stored outside the connection so that a connection in plaintext does not take
    /// more memory because of them.
    private final class Storage: Sendable {
      let values: Values

      init(_ values: Values) { self.values = values }
    }

    private var storage: Storage

    private var values: Values {
      get { storage.values }
      set { storage = Storage(newValue) }
    }

    fileprivate init(_ source: SecretSource) { storage = Storage(Values(source: source)) }

    /// The tag that shows that a refusal comes from the host; nil until the host has sent the tag.
    var refusalTag: AuthenticationTag? {
      get { storage.values.refusalTag }
      set { values.refusalTag = newValue }
    }

    /// On the responder's side, the ticket that the initiator has used for the connection; nil if
    /// there is none.
    var ticket: TicketUse? {
      get { storage.values.ticket }
      set { values.ticket = newValue }
    }

    /// On the initiator's side, the key that the host advertises; nil if there is none. It proves
    /// nothing.
    var advertisedKey: PublicKey? {
      get { storage.values.advertisedKey }
      set { values.advertisedKey = newValue }
    }

    /// Returns the next secret of the sequence.
    mutating func next() -> SecretBytes { values.source.next() }

    /// Returns the secrets of one connection, whose sequence begins with the next secret.
    mutating func makeSequence() -> LinkSecrets { LinkSecrets(SecretSource(seed: next())) }
  }
#endif
