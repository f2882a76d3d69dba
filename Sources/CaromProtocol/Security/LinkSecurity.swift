#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// How a host secures its connections: its identity and the ciphers that it offers. All links of
  /// the host are encrypted, and peers without encryption are refused.
  package struct LinkSecurity: Sendable {
    package let identity: Identity
    /// Whose links this side accepts.
    package let access: LinkAccess
    /// The ciphers that this side accepts, best first.
    let ciphers: [Cipher]
    /// The beginning of the host's sequence of secrets, from which it derives the ephemeral keys of
    /// its handshakes.
    fileprivate let seed: SecretBytes

    /// Creates the settings of one host. `seed` must have 32 random bytes and be used for nothing
    /// else. Ciphers that this processor cannot use are left out. AES-256-GCM is faster, but a key
    /// of it may encrypt no more than 2^23 packets (RFC 9001 §6.6), and keys are never replaced.
    package init(
      _ identity: Identity, access: LinkAccess = .anyone, seed: SecretBytes,
      ciphers: [Cipher] = [.chaChaPoly]
    ) {
      self.identity = identity
      self.access = access
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

  /// The secrets of a host or of a connection: a sequence from which the ephemeral keys of
  /// handshakes are made, and what the host has given.
  package struct LinkSecrets: Sendable {
    /// The secrets, apart from the connection, so that one in plaintext is not longer for them.
    private final class Storage: Sendable {
      let source: SecretSource
      let refusalTag: AuthenticationTag?

      init(_ source: SecretSource, _ refusalTag: AuthenticationTag? = nil) {
        self.source = source
        self.refusalTag = refusalTag
      }
    }

    private var storage: Storage

    /// Creates the secrets of a host.
    init(_ security: LinkSecurity) { storage = Storage(SecretSource(seed: security.seed)) }

    private init(_ source: SecretSource) { storage = Storage(source) }

    /// The tag with which the host proves that it has refused a hello; nil if the host has not
    /// given it yet.
    var refusalTag: AuthenticationTag? {
      get { storage.refusalTag }
      set { storage = Storage(storage.source, newValue) }
    }

    /// Returns the next secret of the sequence.
    mutating func next() -> SecretBytes {
      var source = storage.source
      defer { storage = Storage(source, storage.refusalTag) }
      return source.next()
    }

    /// Returns the secrets of one connection, whose sequence begins with the next secret.
    mutating func makeSequence() -> LinkSecrets { LinkSecrets(SecretSource(seed: next())) }
  }
#endif
