import CaromCore

extension SCTPAssociation {
  /// The maximum number of bytes of answers that wait for a packet. Further answers are dropped,
  /// and the peer asks again.
  static let controlLimit = 512

  /// Returns the chunk HEARTBEAT ACK, which has the same value (RFC 9260 §8.3).
  mutating func answerHeartbeat(_ chunk: Span<UInt8>) {
    guard control.count + padded(chunk.count) <= Self.controlLimit else { return }
    control.appendChunk(ChunkType.heartbeatAck, length: chunk.count - 4)
    control.append(copying: chunk.extracting(droppingFirst: 4))
    control.pad(from: 0)
  }

  /// Does with an unknown chunk what its type asks for (RFC 9260 §3.2), and returns whether those
  /// after it are to be read.
  mutating func answerUnknown(_ chunk: Span<UInt8>) -> Bool {
    let answer = UnknownType(bits: chunk[0] >> 6)
    if answer.isReported, control.count + 8 + padded(chunk.count) <= Self.controlLimit {
      control.appendChunk(ChunkType.error, length: 4 + chunk.count)
      control.appendParameter(ErrorCause.unrecognizedChunk, length: chunk.count)
      control.append(copying: chunk)
      control.pad(from: 0)
    }
    return answer.continues
  }

  /// Answers requests to reset streams (RFC 6525). The peer resets the stream of the channel when
  /// it closes the channel (RFC 8831 §6.7). Returns whether the rest of the packet is to be read.
  mutating func receiveReconfiguration(_ chunk: Span<UInt8>) -> Bool {
    var offset = 4
    while chunk.count - offset >= 8 {
      let type = chunk.bigEndian16(at: offset)
      let length = Int(chunk.bigEndian16(at: offset + 2))
      guard length >= 8, length <= chunk.count - offset else { break }
      if type != ParameterType.resetResponse {
        // 1: performed; 2: denied (RFC 6525 §4.4).
        appendResetResponse(
          to: chunk.bigEndian32(at: offset + 4), type == ParameterType.outgoingReset ? 1 : 2)
      }
      if type == ParameterType.outgoingReset,
        resetsChannel(chunk.extracting(offset..<offset + length))
      {
        close(.channelClosed, cause: ErrorCause.userInitiatedAbort)
        return false
      }
      offset += padded(length)
    }
    return true
  }

  private mutating func appendResetResponse(to sequence: UInt32, _ result: UInt32) {
    guard control.count + 16 <= Self.controlLimit else { return }
    control.appendChunk(ChunkType.reconfiguration, length: 12)
    control.appendParameter(ParameterType.resetResponse, length: 8)
    control.appendBigEndian(sequence)
    control.appendBigEndian(result)
  }

  /// Returns whether an outgoing reset request is about stream 0: it lists it, or lists none, which
  /// means all.
  private func resetsChannel(_ request: Span<UInt8>) -> Bool {
    guard request.count >= 16 else { return false }
    if request.count == 16 { return true }
    return stride(from: 16, to: request.count - 1, by: 2).contains {
      request.bigEndian16(at: $0) == 0
    }
  }

  /// Answers a packet, whose first chunk is of the given type, after the association has been
  /// closed: the peer may have missed that.
  mutating func answerClosed(_ type: UInt8, _ reason: CloseReason) {
    guard control.isEmpty, type != ChunkType.abort else { return }
    switch reason {
    case .shutDown where type == ChunkType.shutdown:
      control.appendChunk(ChunkType.shutdownAck, length: 0)
    case .abortedHere, .channelClosed, .violated:
      if peerTag != 0 { control.appendAbort(ErrorCause.userInitiatedAbort) }
    case .aborted, .shutDown, .timedOut: break
    }
  }
}
