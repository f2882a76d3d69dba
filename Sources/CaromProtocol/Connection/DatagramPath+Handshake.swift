import CaromCore

// The handshake of an encrypted path. The initiator repeats its first message, behind a hello with
// its cookie, until the responder answers, and its last one before every packet until a packet of
// the responder arrives. The responder answers each repetition with the same bytes.
extension DatagramPath {
  /// The time, in nanoseconds, that an initiator has to continue a handshake before a different
  /// handshake may replace it.
  static let handshakePatience: Int64 = 2_000_000_000

  /// Handles the responder's handshake message, which came from `source`. Returns true if the path
  /// now has keys. With a connect token, the answer may come when this side has begun to look for
  /// other addresses.
  mutating func handleAnswer(
    _ message: Span<UInt8>, from source: Route, _ limits: KeyLimits, at now: Instant
  ) -> Bool {
    guard isInitiator, let handshake,
      stage == .securing || stage == .connecting && handshake.usesToken,
      let next = handshake.readAnswer(message)
    else { return false }
    if stage == .connecting { setRoute(source) }
    beginsWithTicket = false
    self.handshake = next.handshake
    begin(next.keys, limits, at: now)
    stage = .validating
    isPingDue = true
    nextHello = nil
    return true
  }

  /// Handles `part`, a handshake message that the initiator sent after `hello`. Returns how the
  /// handshake has ended, or nil if it has not. The path takes its route from the last message of
  /// the handshake, because only that message is authentic; with a connect token, from the first
  /// one that came from a proven address. If the hello has a cookie, it is valid.
  mutating func handlePart(
    _ part: HandshakePart, behind hello: Hello, from source: Route, _ limits: KeyLimits,
    at now: Instant
  ) -> HandshakeEnd? {
    guard !isInitiator, stage != .validated, let handshake else { return nil }
    guard part.number == 3 else {
      guard handshake.answers(part.message.span, behind: hello) else { return nil }
      isHandshakeDue = true
      if hello.cookie != nil, unprovenBudget != nil {
        // Had the path stayed, the answer that goes to this address would prove another one.
        setRoute(source)
        candidates = []
        unprovenBudget = nil
      } else {
        candidates = [source]
        if source == route {
          unprovenBudget = unprovenBudget.map { $0 + Self.unprovenAllowance }
        }
      }
      return nil
    }
    guard stage == .securing else { return nil }
    guard let end = handshake.readEnd(part.message.span) else { return nil }
    setRoute(source)
    if case .keys(let keys) = end {
      begin(keys, limits, at: now)
      self.handshake = nil
      // A repetition of the first message may have asked for the answer just before. There is no
      // answer any more, and waiting to send it would keep every packet back.
      isHandshakeDue = false
      stage = .validated
      candidates = []
    }
    return end
  }

  /// Returns whether the handshake that `part` begins behind `hello` may replace the current
  /// handshake of the path. Anybody who has overheard a connection's key can begin a handshake for
  /// it, so a handshake that is not continued must not keep the initiator out.
  func mayRestart(with part: HandshakePart, behind hello: Hello, at now: Instant) -> Bool {
    guard !isInitiator, part.number == 1, let handshake,
      !handshake.answers(part.message.span, behind: hello)
    else { return false }
    // An initiator that knows this side's key begins again when its cookie changes before it has
    // received the answer. Nobody else can write such a message.
    if stage == .validating { return keys?.usesKnownKey == true }
    guard stage == .securing, let lastReceived else { return false }
    return now.nanoseconds - lastReceived.nanoseconds >= Self.handshakePatience
  }

  /// Writes this side's newest message of the handshake if it is due. Returns whether it was
  /// written.
  mutating func writeHandshake(_ writer: inout FrameWriter, at now: Instant) -> Bool {
    guard let handshake, isHandshakeDue || nextHello.map({ now >= $0 }) ?? false else {
      return false
    }
    isHandshakeDue = false
    writer.begin(limit: Hello.paddedLength)
    if isInitiator {
      writeHello(to: &writer)
      // With a token, the time of the next hello is the time limit for the answer.
      if !isOptimistic { scheduleNextHellos(at: now) }
    }
    write(handshake, to: &writer)
    if beginsWithTicket { writer.appendPadding(to: Hello.paddedLength) }
    return true
  }

  /// Writes the hello, if the address is to be proven, and the last message of the handshake, if
  /// there is one. They precede each packet until the peer is known to have received them.
  func writePrefix(to writer: inout FrameWriter) {
    if isInitiator, cookie != nil || token != nil { writeHello(to: &writer) }
    if let handshake { write(handshake, to: &writer) }
  }

  /// Returns the hello that precedes the first message of the handshake; nil if no message is due.
  func makeOpeningHello() -> [UInt8]? {
    guard isInitiator, stage == .securing, isSecuring, !beginsWithTicket else { return nil }
    return makeHello().encoded
  }

  private func makeHello() -> Hello {
    Hello(
      key: key, epoch: epoch, resumes: resumes, cookie: cookie, token: token, isSealed: isSealed)
  }

  private func writeHello(to writer: inout FrameWriter) {
    var hello = makeHello()
    hello.hasTicket = beginsWithTicket
    if let keys, cookie != nil, token == nil { hello.tag = keys.makeTag(of: hello) }
    hello.write(to: &writer)
  }

  private func write(_ handshake: LinkHandshake, to writer: inout FrameWriter) {
    HandshakePart(
      number: handshake.number, keyPrefix: key.prefix, message: handshake.message
    ).write(to: &writer)
  }
}
