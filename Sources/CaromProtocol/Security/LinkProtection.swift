/// What a session requires of its connections, without the secrets that belong to it.
public enum SecurityPolicy: String, CaseIterable, Hashable, Sendable {
  /// Nothing: connections are in plaintext.
  case none
  /// Encryption. Any peer is accepted.
  case anyone
  /// Encryption, and a peer whose public key is known.
  case known
  /// Encryption, and a code that both sides know.
  case code
  /// Encryption, and a connect token that a backend has given to the client.
  case token
}

/// How the link that carries a peer's messages is protected. It contains no key.
public struct LinkProtection: Hashable, Sendable {
  /// The encryption of a link.
  public enum Encryption: String, Hashable, Sendable {
    /// AES-256-GCM.
    case aesGCM = "AESGCM"
    /// ChaCha20-Poly1305 (RFC 8439).
    case chaChaPoly = "ChaChaPoly"
  }

  /// The handshake of a link: a pattern of the Noise Protocol Framework (revision 34).
  public enum Handshake: String, Hashable, Sendable {
    /// Both sides have sent their static keys.
    case xx = "XX"
    /// The client knew the host's static key beforehand.
    case ik = "IK"
    /// Both sides have proven that they know a code.
    case xxpsk3 = "XXpsk3"
    /// The client has a connect token.
    case nnpsk0 = "NNpsk0"
  }

  /// The policy of this side, which both sides must agree on.
  public let policy: SecurityPolicy
  /// Whether the link is encrypted below the session, for example by TLS. The session then proves
  /// nothing about the peer.
  public let isBelow: Bool
  /// The cipher; nil in plaintext.
  public let encryption: Encryption?
  /// The pattern of the handshake; nil in plaintext.
  public let handshake: Handshake?

  /// No protection.
  public static let none = LinkProtection(.none)
  /// Encryption below the session.
  package static let below = LinkProtection(.none, isBelow: true)

  init(
    _ policy: SecurityPolicy, _ encryption: Encryption? = nil, _ handshake: Handshake? = nil,
    isBelow: Bool = false
  ) {
    self.policy = policy
    self.isBelow = isBelow
    self.encryption = encryption
    self.handshake = handshake
  }
}

extension LinkProtection: CustomStringConvertible {
  /// The policy, the pattern of the handshake and the cipher, for summaries and logs: "anyone, XX,
  /// AESGCM", or "none", or "encrypted below".
  public var description: String {
    if isBelow { return "encrypted below" }
    let parts = [policy.rawValue, handshake?.rawValue, encryption?.rawValue]
    return parts.compactMap { $0 }.joined(separator: ", ")
  }
}

#if canImport(CaromCrypto)
  import CaromCrypto

  extension LinkSecurity {
    /// The name of what this side requires.
    var policy: SecurityPolicy {
      switch access {
      case .anyone: .anyone
      case .known: .known
      case .code: .code
      case .token, .tickets: .token
      }
    }

    /// Returns how a link with `keys` is protected.
    func protection(of keys: LinkKeys) -> LinkProtection {
      let handshake: LinkProtection.Handshake =
        usesTokens ? .nnpsk0 : usesCode ? .xxpsk3 : keys.usesKnownKey ? .ik : .xx
      return LinkProtection(policy, keys.cipher == .aesGCM ? .aesGCM : .chaChaPoly, handshake)
    }
  }
#endif
