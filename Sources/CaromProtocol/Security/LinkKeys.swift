#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// The keys of one link, which both sides have derived in its handshake. They never change, so
  /// that copies of a connection can share them.
  final class LinkKeys: Sendable {
    /// The number of bytes by which a sealed packet is longer than its content.
    static let overhead = Cipher.tagLength

    /// The peer's public key. The peer has proven that it has the matching secret key.
    let peerKey: PublicKey
    /// The id that belongs to the peer's key.
    let peer: PeerID
    /// The cipher that both sides have agreed on.
    let cipher: Cipher
    /// The secret from which the tags of hellos that move the path are computed.
    private let moveSecret: SecretBytes
    private let sending: TransportKey
    private let receiving: TransportKey

    init(_ handshake: Handshake, cipher: Cipher) {
      guard let remote = handshake.remoteStatic else {
        preconditionFailure("the handshake pattern must authenticate both sides")
      }
      peerKey = remote
      peer = PeerID(of: remote)
      self.cipher = cipher
      moveSecret = handshake.makeSecret()
      (sending, receiving) = handshake.makeTransportKeys(for: cipher)
    }

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
