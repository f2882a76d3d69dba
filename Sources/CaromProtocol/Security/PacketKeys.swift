#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  extension KeyLimits {
    /// Returns the maximum number of packets that one key may encrypt (the confidentiality limit of
    /// RFC 9001 §6.6). No connection reaches that of ChaCha20-Poly1305.
    static func confidentialityLimit(of cipher: Cipher) -> UInt64 {
      cipher == .aesGCM ? 1 << 23 : 1 << 62
    }

    /// Returns the maximum number of forged packets that a path may receive over all its keys (the
    /// integrity limit of RFC 9001 §6.6).
    static func integrityLimit(of cipher: Cipher) -> UInt64 {
      cipher == .aesGCM ? 1 << 52 : 1 << 36
    }
  }

  /// The keys that encrypt the packets of a datagram path. They are replaced from time to time, as
  /// in QUIC (RFC 9001 §6): a bit of each packet's first byte, the key phase, changes with the
  /// sender's key. A side whose peer has changed its key changes its own too.
  struct PacketKeys: Sendable {
    private let limits: KeyLimits
    /// The lifetime of a key in nanoseconds.
    private let lifetime: Int64
    private(set) var sending: TransportKey
    /// The number of the first packet that `sending` encrypts, and the time from which it has been
    /// used, in nanoseconds.
    private var firstSent: UInt64 = 0
    private var sendingSince: Int64
    /// Whether this side's packets have the key phase 1.
    private(set) var sendingPhase = false
    private(set) var receiving: TransportKey
    private var receivingPhase = false
    /// The lowest number of a packet that `receiving` has decrypted.
    private var firstReceived = UInt64.max
    /// The key after `receiving`. It is made in advance, so that a forged packet with a new key
    /// phase costs no more than any other, but not expanded before it is needed.
    private var next: TransportKey
    /// The key before `receiving`, for packets that arrive late, and the time until which it is
    /// kept, in nanoseconds.
    private var previous: TransportKey?
    private var previousEnd: Int64 = 0
    /// The number of times that this side has changed its sending key.
    private(set) var changes = 0

    init(_ keys: DerivedKeys, _ limits: KeyLimits, at now: Instant) {
      self.limits = limits
      lifetime = limits.lifetime.wholeNanoseconds
      sending = keys.sending.expanded()
      sendingSince = now.nanoseconds
      receiving = keys.receiving.expanded()
      next = keys.receiving.makeNext()
    }

    /// Whether the sending key has encrypted as many packets as it may. `number` is the number of
    /// the next packet.
    func isUsedUp(at number: UInt64) -> Bool {
      number - firstSent
        >= limits.encryptedPackets ?? KeyLimits.confidentialityLimit(of: sending.cipher)
    }

    /// Changes the sending key if that is due. `number` is the number of the next packet, and
    /// `acknowledged` the largest number that the peer has acknowledged.
    ///
    /// A change is due after a number of packets or a time, but not before the peer has followed
    /// the previous one, acknowledged a packet of the current key, and had time for its late
    /// packets to arrive. Otherwise the peer could not tell the key phases apart.
    mutating func changeIfDue(at number: UInt64, acknowledged: UInt64?, at now: Instant) {
      let time = now.nanoseconds
      if previous != nil, time >= previousEnd { previous = nil }
      guard number - firstSent >= limits.packets || time - sendingSince >= lifetime else { return }
      guard previous == nil, sendingPhase == receivingPhase, let acknowledged,
        acknowledged >= firstSent
      else { return }
      changeSending(at: number, at: time)
    }

    /// Changes the sending key; `number` is that of the first packet that the new key encrypts.
    mutating func changeSending(at number: UInt64, at time: Int64) {
      sending = sending.makeNext().expanded()
      sendingPhase.toggle()
      firstSent = number
      sendingSince = time
      changes += 1
    }

    /// Encrypts a packet in place: the bytes of `buffer` from `offset` on. Its first `head` bytes
    /// stay readable, and its last 16 bytes receive the tag. No two packets of a path may have the
    /// same number.
    func seal(_ buffer: inout MutableSpan<UInt8>, from offset: Int, head: Int, number: UInt64) {
      sending.seal(&buffer, from: offset, head: head, number: number)
    }

    /// Appends the decrypted bytes of `packet`, except its first `head` bytes, to `output`. Returns
    /// false, and changes nothing, unless the peer sealed the packet with this number and this key
    /// phase.
    ///
    /// If the packet is the first of a new key phase, this side's own key changes too, with the
    /// packet `ownNumber`, unless it has changed already. The old key is kept for three of the
    /// path's round trips, which take `roundTrip` nanoseconds each.
    mutating func open(
      _ packet: Span<UInt8>, head: Int, number: UInt64, phase: Bool, into output: inout [UInt8],
      ownNumber: UInt64, roundTrip: Int64, at now: Instant
    ) -> Bool {
      guard phase != receivingPhase else {
        guard receiving.open(packet, head: head, number: number, into: &output) else {
          return false
        }
        firstReceived = min(firstReceived, number)
        return true
      }
      if firstReceived != .max, number < firstReceived {
        guard let previous, now.nanoseconds < previousEnd else { return false }
        return previous.open(packet, head: head, number: number, into: &output)
      }
      guard next.open(packet, head: head, number: number, into: &output) else { return false }
      previous = receiving
      previousEnd =
        now.nanoseconds + max(KeyLimits.minimumKept, roundTrip * KeyLimits.roundTripsKept)
      receiving = next.expanded()
      next = receiving.makeNext()
      receivingPhase = phase
      firstReceived = number
      if sendingPhase != phase { changeSending(at: ownNumber, at: now.nanoseconds) }
      return true
    }
  }
#endif
