#if canImport(CaromCrypto)
  import CaromCore
  import CaromCrypto

  /// The keys that encrypt the bodies of a stream. Each side announces a change of its key with a
  /// control packet, which is the last body that the old key encrypts.
  ///
  /// The keys are not expanded: most streams only stand by while datagrams carry everything, and
  /// where they carry messages, expanding a key takes a small part of the time of a body.
  struct BodyKeys: Sendable {
    let link: LinkKeys
    let limits: KeyLimits
    private(set) var sending: TransportKey
    private(set) var receiving: TransportKey
    /// The number of the first body that `sending` encrypts.
    private var firstSent: UInt64 = 0
    /// The number of times that this side has changed its sending key.
    private(set) var changes = 0

    init(_ keys: DerivedKeys, _ limits: KeyLimits) {
      link = keys.link
      self.limits = limits
      (sending, receiving) = (keys.sending, keys.receiving)
    }

    /// Returns whether the sending key has encrypted so many bodies that it must be changed before
    /// the body `number`.
    func isUsedUp(at number: UInt64) -> Bool { number - firstSent >= limits.packets }

    /// Changes the sending key; `number` is the number of the first body that the new key encrypts.
    mutating func changeSending(at number: UInt64) {
      sending = sending.makeNext()
      firstSent = number
      changes += 1
    }

    /// Changes the receiving key, as the peer has announced.
    mutating func changeReceiving() { receiving = receiving.makeNext() }

    /// Encrypts a body in place: the bytes of `buffer` from `start` on. Its last 16 bytes receive
    /// the tag. No two bodies may have the same number.
    func seal(_ buffer: inout MutableSpan<UInt8>, from start: Int, number: UInt64) {
      sending.seal(&buffer, from: start, head: 0, number: number)
    }

    /// Appends a decrypted body to `output`. Returns false, and appends nothing, unless the peer
    /// sealed the body with this number.
    func open(_ body: Span<UInt8>, number: UInt64, into output: inout [UInt8]) -> Bool {
      receiving.open(body, head: 0, number: number, into: &output)
    }
  }
#endif
