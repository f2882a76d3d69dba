#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// Whose encrypted links a side accepts.
  package enum LinkAccess: Hashable, Sendable {
    /// Those of everybody.
    case anyone
    /// Those of the peers in a list or, if `name` is not nil, of the one with this name alone.
    case known(KnownPeers, name: String?)
    /// Those of the peers that know a code. If `isForOneUse` is true, one peer may use it.
    case code(JoinCode, isForOneUse: Bool)
  }

  extension LinkSecurity {
    /// Whether both sides must know the same code.
    var usesCode: Bool { if case .code = access { true } else { false } }

    /// The pattern of the handshakes of all links.
    var pattern: HandshakePattern { usesCode ? .xxpsk3 : .xx }

    /// Returns whether `message` is the first message of a handshake with this side's pattern.
    func hasOwnPattern(_ message: Span<UInt8>) -> Bool {
      guard message.count > 0 else { return false }
      return message[0] & HandshakeOffer.patternMask == HandshakeOffer.code(of: pattern)
    }

    /// Returns why this side does not trust a peer that has proven the key of `keys`; nil if it
    /// does. `name` is how the peer describes itself; nil if it has not described itself yet.
    func findDistrust(of keys: LinkKeys, named name: String? = nil) -> String? {
      guard case .known(let peers, let expected) = access else { return nil }
      let key = keys.peerKey
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
      return CodeGate(JoinCodeGate(code, isForOneUse: isForOneUse))
    }
  }

  /// What lets in those who know a host's code, and makes others wait. All hosts of a group share
  /// one.
  package struct CodeGate: Sendable {
    private var gate: JoinCodeGate

    fileprivate init(_ gate: JoinCodeGate) { self.gate = gate }

    /// Decides about an attempt, of which this side already knows whether it was right. Nobody
    /// else must learn that if the attempt is refused for another reason. `peer` is the id that the
    /// other side has proven, if the attempt was right.
    mutating func decide(isRight: Bool, by peer: PeerID?, at now: Instant) -> GateDecision {
      do throws(JoinCodeGate.Refusal) {
        try gate.beginAttempt(by: peer, at: now)
        guard isRight, let peer else {
          guard case .wrongCode(let count, let end) = gate.rejectAttempt() else {
            return GateDecision(refusal: .wrongCode)
          }
          return GateDecision(
            refusal: .wrongCode, failure: WrongCode(count: count, waitsUntil: end))
        }
        try gate.acceptAttempt(by: peer)
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
    static func code(of pattern: HandshakePattern) -> UInt8 { pattern == .xx ? 0 : 0x10 }

    /// Returns the bits of `ciphers`: one for each.
    static func bits(of ciphers: [Cipher]) -> UInt8 { ciphers.reduce(0) { $0 | bit(of: $1) } }

    /// Returns the bit of a cipher in an offer, which also stands for the choice of the cipher.
    static func bit(of cipher: Cipher) -> UInt8 { cipher == .chaChaPoly ? 1 : 2 }
  }
#endif
