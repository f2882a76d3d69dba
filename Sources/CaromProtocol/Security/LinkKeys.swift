#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// The keys that both sides have derived in the handshake of a link. The link keeps `link`; the
  /// other two go to `PacketKeys` or `BodyKeys`, so that nothing holds them after their time.
  struct DerivedKeys: Sendable {
    let link: LinkKeys
    /// The first key that encrypts what this side sends.
    let sending: TransportKey
    /// The first key that decrypts what the peer sends.
    let receiving: TransportKey

    /// Creates the keys of a link whose handshake has authenticated the peer's static key.
    /// `usesKnownKey` is true if the initiator knew the host's key at the beginning.
    init(_ handshake: Handshake, cipher: Cipher, usesKnownKey: Bool = false) {
      guard let remote = handshake.remoteStatic else {
        preconditionFailure("the handshake pattern must authenticate both sides")
      }
      self.init(
        handshake,
        LinkKeys(
          handshake, cipher: cipher, peer: PeerID(of: remote), key: remote,
          usesKnownKey: usesKnownKey))
    }

    /// Creates the keys of a link whose handshake has proven that the peer knows a token's key.
    init(_ handshake: Handshake, cipher: Cipher, peer: PeerID, ticket: TicketUse? = nil) {
      self.init(handshake, LinkKeys(handshake, cipher: cipher, peer: peer, ticket: ticket))
    }

    private init(_ handshake: Handshake, _ link: LinkKeys) {
      self.link = link
      (sending, receiving) = handshake.makeTransportKeys(for: link.cipher)
    }
  }

  /// What both sides have agreed on in the handshake of one link, except for the keys that encrypt,
  /// which are replaced. It never changes, so that copies of a connection can share it.
  final class LinkKeys: Sendable {
    /// The number of bytes by which a sealed packet is longer than its content.
    static let overhead = Cipher.tagLength

    /// The peer's public key. The peer has proven that it has the matching secret key. It is nil if
    /// the initiator has a connect token instead.
    let peerKey: PublicKey?
    /// The id that belongs to the peer's key. With a connect token, it is the id that the backend
    /// gave the initiator or, on the initiator's side, the id that the host gives itself.
    let peer: PeerID
    /// On the responder's side, the ticket of the initiator's connect token; nil if there is none.
    let ticket: TicketUse?
    /// The cipher that both sides have agreed on.
    let cipher: Cipher
    /// Whether the initiator knew the responder's key at the beginning (pattern IK).
    let usesKnownKey: Bool
    /// The secret from which the tags of hellos that move the path are computed.
    private let moveSecret: SecretBytes

    fileprivate init(
      _ handshake: Handshake, cipher: Cipher, peer: PeerID, key: PublicKey? = nil,
      usesKnownKey: Bool = false, ticket: TicketUse? = nil
    ) {
      peerKey = key
      self.peer = peer
      self.ticket = ticket
      self.cipher = cipher
      self.usesKnownKey = usesKnownKey
      moveSecret = handshake.makeSecret()
    }

    /// The maximum number of forged packets that the link may receive.
    var integrityLimit: UInt64 { KeyLimits.integrityLimit(of: cipher) }

    /// Returns the tag for a hello. The tag proves that the initiator sent the hello.
    func makeTag(of hello: Hello) -> AuthenticationTag {
      AuthenticationTag(
        moveSecret.authenticate(hello.authenticatedBytes, length: AuthenticationTag.length)
          .reveal())
    }
  }
#endif
