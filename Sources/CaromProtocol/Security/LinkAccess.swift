#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// The peers whose encrypted links a side accepts.
  package enum LinkAccess: Hashable, Sendable {
    /// All peers.
    case anyone
    /// The peers in a list or, if `name` is not nil, only the peer with this name in the list.
    case known(KnownPeers, name: String?)
    /// The peers that know a code. If `isForOneUse` is true, only one peer may use the code.
    case code(JoinCode, isForOneUse: Bool)
    /// The hosts for which a backend has made a token. Only an initiator has this access.
    case token(ConnectToken)
    /// The peers with a token of a backend, each token once. Only a host has this access.
    case tickets(TicketReader)
  }

  extension LinkSecurity {
    /// Whether both sides must know the same code.
    var usesCode: Bool { if case .code = access { true } else { false } }

    /// Whether initiators must have a token of a backend.
    var usesTokens: Bool {
      switch access {
      case .token, .tickets: true
      case .anyone, .known, .code: false
      }
    }

    /// Whether peers are accepted whose links are encrypted below the session, and who thus prove
    /// no key. They can show a code there.
    var acceptsPeersWithoutKeys: Bool {
      switch access {
      case .anyone, .code: true
      case .known, .token, .tickets: false
      }
    }

    /// Returns whether `text` is the code that both sides must know. Returns false if there is
    /// none.
    func isCode(_ text: String) -> Bool {
      guard case .code(let code, _) = access, let other = try? JoinCode(text) else { return false }
      return code.password == other.password
    }

    /// Whether this side accepts connections, rather than having a token with which it can only
    /// begin one.
    var acceptsConnections: Bool { if case .token = access { false } else { true } }

    /// Whether this side accepts initiators with a token of a backend.
    var acceptsTickets: Bool { if case .tickets = access { true } else { false } }

    /// The pattern of the handshakes of all links, unless the initiator knows the host's key.
    var pattern: HandshakePattern { usesTokens ? .nnpsk0 : usesCode ? .xxpsk3 : .xx }

    /// Returns whether `message` is the first message of a handshake with this side's pattern. An
    /// initiator that knows the host's key may use IK in place of XX.
    func hasOwnPattern(_ message: Span<UInt8>) -> Bool {
      guard message.count > 0 else { return false }
      let code = message[0] & HandshakeOffer.patternMask
      return code == HandshakeOffer.code(of: pattern)
        || pattern == .xx && code == HandshakeOffer.code(of: .ik)
    }

    /// Returns the cipher that this side chooses for an initiator's offer; nil if it accepts none.
    func chooseCipher(from offer: UInt8) -> Cipher? {
      ciphers.first { offer & HandshakeOffer.bit(of: $0) != 0 }
    }

    /// Returns whether `message` is the first message of an initiator that uses a key of this side.
    func isForKnownHost(_ message: Span<UInt8>) -> Bool { HandshakeOffer.isForKnownHost(message) }

    /// Returns the key with which this side begins its handshakes with a host, or nil if the host's
    /// key is not known. `advertised` is the key that the host advertises, if any.
    ///
    /// An advertisement proves nothing, and what the first message of a handshake with a known key
    /// contains can be read by everybody who has that key. So the advertised key counts only if
    /// this side would accept the host with it anyway.
    func findHostKey(advertised: PublicKey?) -> PublicKey? {
      switch access {
      case .anyone: return advertised
      case .known(let peers, let name?): return peers.key(of: name)
      case .known(let peers, nil): return advertised.flatMap { peers.contains($0) ? $0 : nil }
      case .code, .token, .tickets: return nil
      }
    }

    /// Returns the reason why this side does not trust a peer that has proven the key of `keys`;
    /// nil if this side trusts the peer. `name` is the name by which the peer describes itself; nil
    /// if the peer has not described itself yet.
    func findDistrust(of keys: LinkKeys, named name: String? = nil) -> String? {
      guard case .known(let peers, let expected) = access, let key = keys.peerKey else {
        return nil
      }
      if expected == nil, peers.contains(key) { return nil }
      if let name = expected ?? name {
        do throws(KnownPeersError) {
          if try peers.check(name, key) == .known { return nil }
        } catch { return error.description }
      }
      return "the key \(Fingerprint(key)) is not known"
    }

    /// Returns the gate of a host with a code; nil without a code.
    func makeGate() -> CodeGate? {
      guard case .code(let code, let isForOneUse) = access else { return nil }
      return JoinCodeGate(code, isForOneUse: isForOneUse)
    }
  }

  /// The gate of a host with a code: accepts the attempts of peers that know the code, and makes
  /// further attempts wait after too many wrong ones. All hosts of a group share one gate.
  package typealias CodeGate = JoinCodeGate

  extension JoinCodeGate {
    /// Decides about an attempt. `isRight` tells whether the attempt was right, which only this
    /// side knows: if the attempt is refused for a different reason, nobody else must learn it.
    /// `peer` is the id that the other side has proven, if the attempt was right.
    mutating func decide(isRight: Bool, by peer: PeerID?, at now: Instant) -> GateDecision {
      do throws(JoinCodeGate.Refusal) {
        try beginAttempt(by: peer, at: now)
        guard isRight, let peer else {
          guard case .wrongCode(let count, let end) = rejectAttempt() else {
            return GateDecision(refusal: .wrongCode)
          }
          return GateDecision(
            refusal: .wrongCode, failure: WrongCode(count: count, waitsUntil: end))
        }
        try acceptAttempt(by: peer)
        return GateDecision()
      } catch .waiting {
        return GateDecision(refusal: .tooManyAttempts)
      } catch {
        return GateDecision(refusal: .wrongCode)
      }
    }
  }

  /// The first byte of a handshake: the ciphers that the initiator offers, and the pattern.
  enum HandshakeOffer {
    /// The bits that stand for the pattern.
    static let patternMask: UInt8 = 0xF0

    /// Returns the bits of a pattern.
    static func code(of pattern: HandshakePattern) -> UInt8 {
      switch pattern {
      case .ik: 0x30
      case .nnpsk0: 0x20
      case .xxpsk3: 0x10
      default: 0
      }
    }

    /// Returns whether the handshake that `first` begins has the pattern IK.
    static func isForKnownHost(_ first: Span<UInt8>) -> Bool {
      first.count > 0 && first[0] & patternMask == code(of: .ik)
    }

    /// Returns the first byte of a handshake with a pattern. It has a bit for each of `ciphers`.
    static func byte(of pattern: HandshakePattern, _ ciphers: [Cipher]) -> UInt8 {
      ciphers.reduce(code(of: pattern)) { $0 | bit(of: $1) }
    }

    /// Returns the bit that stands for a cipher, both in the initiator's offer and in the
    /// responder's choice.
    static func bit(of cipher: Cipher) -> UInt8 { cipher == .chaChaPoly ? 1 : 2 }
  }
#endif
