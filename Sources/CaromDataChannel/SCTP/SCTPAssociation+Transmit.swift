import CaromCore

extension SCTPAssociation {
  /// The length of a SACK without gap blocks, in bytes.
  private static let acknowledgementLength = 16
  /// The length of a FORWARD-TSN, in bytes.
  private static let forwardLength = 8

  /// Sends a message, 1 to `maximumMessageLength` bytes, and passes the packet to `write`. A SACK
  /// and other chunks that are wanted go with it if they fit.
  ///
  /// Returns false, and drops the message, if the association is not established or the peer has no
  /// room.
  package mutating func send(
    _ message: Span<UInt8>, at now: Instant, _ write: (Span<UInt8>) -> Void
  ) -> Bool {
    precondition(
      !message.isEmpty && message.count <= Self.maximumMessageLength,
      "a message has 1 to 1,200 bytes")
    guard phase == .established, sent.hasRoom(for: message.count) else {
      statistics.messagesRefused += 1
      return false
    }
    let length = SCTPData.headerLength + padded(message.count)
    if Self.headerLength + control.count + length > Self.packetLimit {
      flushControl(write)
    }
    begin(tag: peerTag)
    appendControl(sparing: length, at: now)
    appendData(message, at: now)
    statistics.messagesSent += 1
    finish(write)
    return true
  }

  /// Passes all packets that are due to `write`.
  package mutating func pollTransmit(at now: Instant, _ write: (Span<UInt8>) -> Void) {
    if !detached.isEmpty {
      begin(tag: detachedTag)
      packet += detached
      detached.removeAll(keepingCapacity: true)
      finish(write)
    }
    if phase == .cookieWait || phase == .cookieEchoed { sendHandshake(at: now, write) }
    let isDue =
      phase == .established
      && (acknowledgement.deadline.map { $0 <= now } == true
        || forward.deadline.map { $0 <= now } == true)
    guard isDue || !control.isEmpty, peerTag != 0 else { return }
    begin(tag: peerTag)
    appendControl(sparing: 0, at: now)
    finish(write)
  }

  private mutating func sendHandshake(at now: Instant, _ write: (Span<UInt8>) -> Void) {
    guard handshake.isDue else { return }
    handshake.recordSent(at: now)
    begin(tag: phase == .cookieWait ? 0 : peerTag)
    if phase == .cookieWait {
      ours.append(ChunkType.initiation, to: &packet)
    } else if let answer {
      packet.appendChunk(ChunkType.cookieEcho, length: answer.cookie.count)
      packet += answer.cookie
      packet.pad(from: 0)
      appendReport(of: answer.unrecognized)
    }
    finish(write)
  }

  /// Appends a chunk ERROR with parameters that were not recognized.
  private mutating func appendReport(of parameters: [UInt8]) {
    guard !parameters.isEmpty else { return }
    packet.appendChunk(ChunkType.error, length: 4 + parameters.count)
    packet.appendParameter(ErrorCause.unrecognizedParameters, length: parameters.count)
    packet += parameters
  }

  /// Appends all chunks but data, and leaves room for `length` more bytes. A SACK and a FORWARD-TSN
  /// go along before they are due.
  private mutating func appendControl(sparing length: Int, at now: Instant) {
    if !control.isEmpty { appendAnswers() }
    guard phase == .established else { return }
    let limit = Self.packetLimit - length
    if forward.isWelcome(at: now), packet.count + Self.forwardLength <= limit {
      packet.appendChunk(ChunkType.forward, length: 4)
      packet.appendBigEndian(sent.abandonedThrough.value)
      forward.recordSent(at: now)
    }
    if acknowledgement.deadline != nil, packet.count + Self.acknowledgementLength <= limit {
      appendAcknowledgement(limit: limit)
    }
  }

  private mutating func appendAcknowledgement(limit: Int) {
    let start = packet.count
    let cumulative = received.cumulative.value
    packet.makeRoom(for: Self.acknowledgementLength)
    packet.append(addingCapacity: Self.acknowledgementLength) { output in
      output.append(ChunkType.selectiveAck)
      output.append(0)
      output.appendBigEndian(UInt16(Self.acknowledgementLength))
      output.appendBigEndian(cumulative)
      output.appendBigEndian(InitChunk.window)
      output.appendBigEndian(0 as UInt32)
    }
    if received.hasGaps {
      let room = (limit - packet.count) / 4
      let count = received.appendGaps(to: &packet, limit: room)
      packet.overwriteBigEndian(UInt16(packet.count - start), at: start + 2)
      packet.overwriteBigEndian(UInt16(count), at: start + 12)
    }
    acknowledgement.recordSent()
  }

  private mutating func appendData(_ message: Span<UInt8>, at now: Instant) {
    let tsn = sent.append(size: message.count, at: now)
    packet.makeRoom(for: SCTPData.headerLength + padded(message.count))
    packet.append(addingCapacity: SCTPData.headerLength) { output in
      output.append(ChunkType.data)
      output.append(SCTPData.wholeUnordered)
      output.appendBigEndian(UInt16(SCTPData.headerLength + message.count))
      output.appendBigEndian(tsn.value)
      output.appendBigEndian(0 as UInt32)  // stream 0; an unordered message has no number in it
      output.appendBigEndian(SCTPData.binary)
    }
    packet.append(copying: message)
    packet.pad(from: 0)
  }

  /// Sends the answers that wait, in a packet of their own.
  private mutating func flushControl(_ write: (Span<UInt8>) -> Void) {
    guard !control.isEmpty else { return }
    begin(tag: peerTag)
    appendAnswers()
    finish(write)
  }

  /// Appends the answers that wait. They are rare, so their memory is not kept.
  private mutating func appendAnswers() {
    packet += control
    control = []
  }

  private mutating func begin(tag: UInt32) {
    packet.removeAll(keepingCapacity: true)
    packet.makeRoom(for: Self.headerLength)
    packet.append(addingCapacity: Self.headerLength) { output in
      output.appendBigEndian(Self.port)
      output.appendBigEndian(Self.port)
      output.appendBigEndian(tag)
      output.appendBigEndian(0 as UInt32)
    }
  }

  private mutating func finish(_ write: (Span<UInt8>) -> Void) {
    let checksum = Self.checksum(of: packet.span)
    packet.overwriteBigEndian(UInt16(truncatingIfNeeded: checksum >> 16), at: 8)
    packet.overwriteBigEndian(UInt16(truncatingIfNeeded: checksum), at: 10)
    write(packet.span)
  }
}
