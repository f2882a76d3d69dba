import CaromCore

// The handshake of an encrypted path. The initiator repeats its first message, behind a hello with
// its cookie, until the responder answers, and its last one before every packet until a packet of
// the responder arrives. The responder answers each repetition with the same bytes.
extension DatagramPath {
  /// Handles the responder's message. Returns true if the path now has keys.
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

  /// Handles the initiator's message that follows a hello. Returns true if the path now has keys.
  mutating func handlePart(_ part: HandshakePart) -> Bool {
    guard !isInitiator, stage == .securing, let handshake else { return false }
    guard part.number == 3 else {
      if handshake.answers(part.message.span) { isHandshakeDue = true }
      return false
    }
    guard let keys = handshake.readEnd(part.message.span) else { return false }
    self.keys = keys
    self.handshake = nil
    stage = .validated
    return true
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

  /// Writes what precedes a packet until the responder is known to have received it: the hello and,
  /// on an encrypted path, the last message of the handshake.
  func writePrefix(to writer: inout FrameWriter) {
    writeHello(to: &writer)
    if let handshake { write(handshake, to: &writer) }
  }

  private func writeHello(to writer: inout FrameWriter) {
    Hello(
      key: key, epoch: epoch, resumes: resumes, cookie: cookie, token: token, isSealed: isSealed
    ).write(to: &writer)
  }

  private func write(_ handshake: LinkHandshake, to writer: inout FrameWriter) {
    HandshakePart(
      number: handshake.number, keyPrefix: key.prefix, message: handshake.message
    ).write(to: &writer)
  }
}
