import CaromCore

// The handshake of an encrypted path. The initiator repeats its first message, behind a hello with
// its cookie, until the responder answers, and its last one before every packet until a packet of
// the responder arrives. The responder answers each repetition with the same bytes.
extension DatagramPath {
  /// The time, in nanoseconds, that an initiator has to continue a handshake before a different
  /// handshake may replace it.
  static let handshakePatience: Int64 = 2_000_000_000

  /// Handles the responder's handshake message. Returns true if the path now has keys.
  mutating func handleAnswer(_ message: Span<UInt8>) -> Bool {
    guard isInitiator, stage == .securing, let next = handshake?.readAnswer(message) else {
      return false
    }
    (handshake, keys) = (next.handshake, next.keys)
    stage = .validating
    isPingDue = true
    nextHello = nil
    return true
  }

  /// Handles `part`, a handshake message that the initiator sent after a hello. Returns how the
  /// handshake has ended, or nil if it has not. The path takes its route from the last message of
  /// the handshake, because only that message is authentic.
  mutating func handlePart(_ part: HandshakePart, from source: Route) -> HandshakeEnd? {
    guard !isInitiator, stage == .securing, let handshake else { return nil }
    guard part.number == 3 else {
      guard handshake.answers(part.message.span) else { return nil }
      isHandshakeDue = true
      candidates = [source]
      return nil
    }
    guard let end = handshake.readEnd(part.message.span) else { return nil }
    setRoute(source)
    if case .keys(let keys) = end {
      self.keys = keys
      self.handshake = nil
      stage = .validated
      candidates = []
    }
    return end
  }

  /// Returns whether the handshake that `part` begins may replace the current handshake of the
  /// path. Anybody who has overheard a connection's key can begin a handshake for it, so a
  /// handshake that is not continued must not keep the initiator out.
  func mayRestart(with part: HandshakePart, at now: Instant) -> Bool {
    guard !isInitiator, stage == .securing, part.number == 1, let handshake, let lastReceived,
      !handshake.answers(part.message.span)
    else { return false }
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
      if token == nil { scheduleNextHellos(at: now) }
    }
    write(handshake, to: &writer)
    return true
  }

  /// Writes the hello and, on an encrypted path, the last message of the handshake. They precede
  /// each packet until the responder is known to have received them.
  func writePrefix(to writer: inout FrameWriter) {
    writeHello(to: &writer)
    if let handshake { write(handshake, to: &writer) }
  }

  private func writeHello(to writer: inout FrameWriter) {
    var hello = Hello(
      key: key, epoch: epoch, resumes: resumes, cookie: cookie, token: token, isSealed: isSealed)
    if let keys, cookie != nil, token == nil { hello.tag = keys.makeTag(of: hello) }
    hello.write(to: &writer)
  }

  private func write(_ handshake: LinkHandshake, to writer: inout FrameWriter) {
    HandshakePart(
      number: handshake.number, keyPrefix: key.prefix, message: handshake.message
    ).write(to: &writer)
  }
}
