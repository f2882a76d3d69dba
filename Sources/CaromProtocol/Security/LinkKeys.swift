#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// The keys of one link, which both sides have derived in its handshake. They never change, so
  /// that copies of a connection can share them; `PacketKeys` and `BodyKeys` replace the keys that
  /// encrypt.
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
    /// The secret from which the tags of hellos that move the path are computed.
    private let moveSecret: SecretBytes
    let sending: TransportKey
    let receiving: TransportKey

    /// Creates the keys of a link whose handshake has authenticated the peer's static key.
    convenience init(_ handshake: Handshake, cipher: Cipher) {
      guard let remote = handshake.remoteStatic else {
        preconditionFailure("the handshake pattern must authenticate both sides")
      }
      self.init(handshake, cipher: cipher, key: remote, peer: PeerID(of: remote), ticket: nil)
    }

    /// Creates the keys of a link whose handshake has proven that the peer knows a token's key.
    convenience init(
      _ handshake: Handshake, cipher: Cipher, peer: PeerID, ticket: TicketUse? = nil
    ) {
      self.init(handshake, cipher: cipher, key: nil, peer: peer, ticket: ticket)
    }

    private init(
      _ handshake: Handshake, cipher: Cipher, key: PublicKey?, peer: PeerID, ticket: TicketUse?
    ) {
      peerKey = key
      self.peer = peer
      self.ticket = ticket
      self.cipher = cipher
      moveSecret = handshake.makeSecret()
      (sending, receiving) = handshake.makeTransportKeys(for: cipher)
    }

    /// The maximum number of forged packets that the link may receive.
    var integrityLimit: UInt64 { KeyLimits.integrityLimit(of: cipher) }

    /// Returns the tag for a hello. The tag proves that the initiator sent the hello.
    func makeTag(of hello: Hello) -> AuthenticationTag {
      AuthenticationTag(
        moveSecret.authenticate(hello.authenticatedBytes, length: AuthenticationTag.length)
          .reveal())
    }

    /// Encrypts a packet in place: the bytes of `buffer` from `offset` on. Its first `head` bytes
    /// stay readable, and its last 16 bytes receive the tag. No two packets of a link may have the
    /// same number.
    func seal(
      _ buffer: inout MutableSpan<UInt8>, from offset: Int, head: Int, number: UInt64
    ) {
      sending.seal(&buffer, from: offset, head: head, number: number)
    }

    /// Appends the decrypted bytes of `packet`, except its first `head` bytes, to `output`. Returns
    /// false, and appends nothing, unless the peer sealed the packet with this number.
    func open(
      _ packet: Span<UInt8>, head: Int, number: UInt64, into output: inout [UInt8]
    ) -> Bool {
      receiving.open(packet, head: head, number: number, into: &output)
    }
  }
#endif
