import CaromCore

extension SCTPAssociation {
  /// Answers an INIT without a change of the association (RFC 9260 §5.1, §5.2.1, §5.2.2). The
  /// cookie of the answer begins it, or begins it again if the peer has restarted.
  mutating func receiveInit(_ chunk: Span<UInt8>) {
    guard let theirs = InitChunk(chunk) else { return }
    detached.removeAll(keepingCapacity: true)
    detachedTag = theirs.tag
    guard theirs.supportsForward else {
      return detached.appendAbort(ErrorCause.invalidParameter)
    }
    if offer?.theirs.isSame(as: theirs) != true {
      offer = Offer(theirs: theirs, ours: makeAnswer())
    }
    offer?.ours.append(
      ChunkType.initiationAck, reporting: theirs.unrecognized, to: &detached)
  }

  /// The INIT ACK for a new INIT. Before the association is established, its tag and TSN are those
  /// of this side's own INIT (RFC 9260 §5.2.1). Later, they are new.
  private mutating func makeAnswer() -> InitChunk {
    var answer = ours
    if phase == .established {
      answer = InitChunk(
        tag: UInt32.random(in: 1...UInt32.max, using: &generator),
        firstTSN: TSN(UInt32.random(in: 0...UInt32.max, using: &generator)))
    }
    answer.cookie.appendBigEndian(generator.next())
    return answer
  }

  /// Takes the cookie of an INIT ACK, which this side has asked for.
  mutating func receiveInitAck(_ chunk: Span<UInt8>) {
    guard phase == .cookieWait, let answer = InitChunk(chunk) else { return }
    peerTag = answer.tag
    guard answer.supportsForward, !answer.cookie.isEmpty else {
      return close(.violated, cause: ErrorCause.invalidParameter)
    }
    phase = .cookieEchoed
    handshake = HandshakeTimer()
    self.answer = answer
  }

  /// Compares a COOKIE ECHO with the offer, and establishes the association (RFC 9260 §5.2.4).
  /// `tag` is that of the packet. Returns false if the rest of the packet has to be ignored.
  mutating func receiveCookieEcho(_ chunk: Span<UInt8>, tag: UInt32) -> Bool {
    guard let offer, tag == offer.ours.tag, isCookie(chunk, offer.ours.cookie) else {
      return false
    }
    let isKnown = phase == .established && tag == ownTag && peerTag == offer.theirs.tag
    if !isKnown { establish(offer.ours, offer.theirs) }
    if control.count + 4 <= Self.controlLimit {
      control.appendChunk(ChunkType.cookieAck, length: 0)
    }
    return true
  }

  private func isCookie(_ chunk: Span<UInt8>, _ cookie: [UInt8]) -> Bool {
    guard chunk.count == 4 + cookie.count else { return false }
    return cookie.indices.allSatisfy { chunk[4 + $0] == cookie[$0] }
  }

  mutating func receiveCookieAck() {
    guard phase == .cookieEchoed, let answer else { return }
    establish(ours, answer)
  }

  private mutating func establish(_ ours: InitChunk, _ theirs: InitChunk) {
    phase = .established
    answer = nil
    control.removeAll(keepingCapacity: true)
    ownTag = ours.tag
    peerTag = theirs.tag
    received = TSNWindow(first: theirs.firstTSN)
    fragments = FragmentBuffer()
    acknowledgement = AcknowledgementTimer()
    sent = SentMessages(first: ours.firstTSN, peerWindow: theirs.window)
    forward = ForwardTimer()
  }
}
