import CaromCore

extension SCTPAssociation {
  /// What the data in one packet says about the next SACK.
  struct Arrivals {
    var hasData = false
    var isUrgent = false
  }

  /// Reads a packet that DTLS has decrypted, and passes each message in it to `deliver`, of at most
  /// `maximumMessageLength` bytes and each message once, in the order of arrival.
  package mutating func receive(
    _ packet: Span<UInt8>, at now: Instant, _ deliver: (Span<UInt8>) -> Void
  ) {
    guard isIntact(packet), accepts(packet) else {
      statistics.malformedPackets += 1
      return
    }
    if case .closed(let reason) = phase { return answerClosed(packet[12], reason) }
    var arrivals = Arrivals()
    var offset = Self.headerLength
    while packet.count - offset >= 4 {
      let length = Int(packet.bigEndian16(at: offset + 2))
      guard length >= 4, length <= packet.count - offset else { break }
      let chunk = packet.extracting(offset..<offset + length)
      guard receive(chunk, tag: packet.bigEndian32(at: 4), &arrivals, at: now, deliver) else {
        break
      }
      offset += padded(length)
    }
    guard arrivals.hasData, phase == .established else { return }
    acknowledgement.recordPacket(isUrgent: arrivals.isUrgent || received.hasGaps, at: now)
  }

  /// Checks the ports and the checksum, which counts its own bytes as zeros (RFC 9260 §6.8).
  private func isIntact(_ packet: Span<UInt8>) -> Bool {
    guard packet.count >= Self.headerLength + 4, packet.bigEndian16(at: 0) == Self.port,
      packet.bigEndian16(at: 2) == Self.port
    else { return false }
    return packet.bigEndian32(at: 8) == Self.checksum(of: packet)
  }

  /// Returns the checksum as it stands in the header, where its least significant byte comes first.
  package static func checksum(of packet: Span<UInt8>) -> UInt32 {
    let zeros: InlineArray<4, UInt8> = [0, 0, 0, 0]
    let crc = CRC32.castagnoli
    var state = crc.update(CRC32.start, with: packet.extracting(0..<8))
    state = crc.update(state, with: zeros.span)
    state = crc.update(state, with: packet.extracting(headerLength..<packet.count))
    return CRC32.finish(state).byteSwapped
  }

  /// Checks the tag (RFC 9260 §8.5).
  private func accepts(_ packet: Span<UInt8>) -> Bool {
    let tag = packet.bigEndian32(at: 4)
    let type = packet[Self.headerLength]
    let isReflected = packet[Self.headerLength + 1] & 1 != 0
    return switch type {
    case ChunkType.initiation: tag == 0
    case ChunkType.abort where isReflected, ChunkType.shutdownComplete where isReflected:
      tag == peerTag && tag != 0
    case ChunkType.cookieEcho: tag == ownTag || tag == offer?.ours.tag
    default: tag == ownTag
    }
  }

  /// Reads a chunk, and returns whether those after it are to be read.
  private mutating func receive(
    _ chunk: Span<UInt8>, tag: UInt32, _ arrivals: inout Arrivals, at now: Instant,
    _ deliver: (Span<UInt8>) -> Void
  ) -> Bool {
    switch chunk[0] {
    case ChunkType.initiation:
      // INIT stands alone in a packet without a tag (§3.3.2).
      if tag == 0 { receiveInit(chunk) }
      return false
    case ChunkType.initiationAck: receiveInitAck(chunk)
    case ChunkType.cookieEcho: return receiveCookieEcho(chunk, tag: tag)
    case ChunkType.cookieAck: receiveCookieAck()
    case ChunkType.abort:
      control.removeAll(keepingCapacity: true)
      close(.aborted, cause: nil)
      return false
    case _ where phase != .established: return false
    case ChunkType.data: return receiveData(chunk, &arrivals, deliver)
    case ChunkType.selectiveAck: receiveAcknowledgement(chunk, at: now)
    case ChunkType.forward: receiveForward(chunk, &arrivals)
    case ChunkType.heartbeat: answerHeartbeat(chunk)
    case ChunkType.reconfiguration: return receiveReconfiguration(chunk)
    case ChunkType.shutdown:
      control.appendChunk(ChunkType.shutdownAck, length: 0)
      close(.shutDown, cause: nil)
      return false
    case ChunkType.heartbeatAck, ChunkType.error, ChunkType.shutdownAck,
      ChunkType.shutdownComplete:
      break
    default: return answerUnknown(chunk)
    }
    return true
  }

  private mutating func receiveData(
    _ chunk: Span<UInt8>, _ arrivals: inout Arrivals, _ deliver: (Span<UInt8>) -> Void
  ) -> Bool {
    guard chunk.count > SCTPData.headerLength else {
      close(.violated, cause: ErrorCause.noUserData)
      return false
    }
    let data = SCTPData(chunk)
    switch received.insert(data.tsn) {
    case .outside: statistics.outsideWindow += 1
    case .duplicate:
      statistics.duplicates += 1
      arrivals.hasData = true
      arrivals.isUrgent = true
    case .new:
      arrivals.hasData = true
      if data.isUrgent { arrivals.isUrgent = true }
      take(chunk.extracting(droppingFirst: SCTPData.headerLength), data, deliver)
    }
    return true
  }

  /// Delivers a message, whole or put together, if it is one of the channel.
  private mutating func take(
    _ payload: Span<UInt8>, _ data: SCTPData, _ deliver: (Span<UInt8>) -> Void
  ) {
    guard data.kind == SCTPData.Kind(stream: 0, payloadProtocol: SCTPData.binary),
      payload.count <= Self.maximumMessageLength
    else {
      statistics.undeliverable += 1
      return
    }
    if data.isFirst && data.isLast {
      statistics.messagesReceived += 1
      deliver(payload)
    } else if let message = fragments.insert(data, payload) {
      statistics.messagesReceived += 1
      deliver(message.span)
    }
  }

  /// Reads a SACK (RFC 9260 §6.2.1). Gap blocks that are out of order, or of what was never sent,
  /// end it.
  private mutating func receiveAcknowledgement(_ chunk: Span<UInt8>, at now: Instant) {
    guard chunk.count >= 16 else { return }
    let cumulative = TSN(chunk.bigEndian32(at: 4))
    guard sent.acknowledge(through: cumulative, peerWindow: chunk.bigEndian32(at: 8)) else {
      return
    }
    let count = min(Int(chunk.bigEndian16(at: 12)), (chunk.count - 16) / 4)
    var previous = 0
    for index in 0..<count {
      let first = Int(chunk.bigEndian16(at: 16 + 4 * index))
      let last = Int(chunk.bigEndian16(at: 18 + 4 * index))
      guard first > previous, last >= first,
        sent.acknowledge(
          from: cumulative.advanced(by: first), through: cumulative.advanced(by: last))
      else { break }
      previous = last
    }
    if sent.abandonOvertaken() { forward.schedule(at: now) }
    if !sent.owesForward { forward.stop() }
  }

  /// Stops waiting for messages that the peer has abandoned (RFC 3758 §3.6). The answer is a SACK
  /// at once, also to an old chunk, whose SACK may have been lost.
  private mutating func receiveForward(_ chunk: Span<UInt8>, _ arrivals: inout Arrivals) {
    guard chunk.count >= 8 else { return }
    received.advance(to: TSN(chunk.bigEndian32(at: 4)))
    fragments.removeAll(through: received.cumulative)
    arrivals.hasData = true
    arrivals.isUrgent = true
  }
}
