import CaromCore

// What arrives. A method that throws has found a violation of the protocol, after which the peer's
// connection must be closed.
extension ByteStreams {
  /// Handles a message on the control channel.
  package mutating func handleControl(_ bytes: Span<UInt8>) throws(DecodeError) {
    switch try StreamMessage(decoding: bytes) {
    case .credit(let id, let limit):
      try check(id)
      guard let stream = streams[id] else { return }
      guard limit >= stream.limit, limit <= stream.sent + UInt64(CreditWindow.maximumSize) else {
        throw .invalid(what: "credit")
      }
      streams[id]?.limit = limit
      schedule(id)
    case .streams(let limit):
      guard limit > openLimit, limit <= opened + UInt64(StreamLimits.streams) else {
        throw .invalid(what: "limit of streams")
      }
      openLimit = limit
      if wantsToOpen { events.append(.canOpen) }
      wantsToOpen = false
    case .open, .finish, .reset: throw .invalid(what: "kind")
    }
  }

  /// Handles a message on the data channel.
  package mutating func handleData(_ message: Span<UInt8>) throws(DecodeError) {
    var offset = 0
    if let id = try StreamMessage.dataID(message, at: &offset) {
      try check(id)
      // Bytes of a stream that this side has reset may still be on the way.
      guard streams[id] != nil else { return }
      let wasEmpty = streams[id]?.unreadBytes == 0
      try streams[id]?.receive(Array(copying: message.extracting(offset..<message.count)))
      if wasEmpty { events.append(.readable(id)) }
      return
    }
    switch try StreamMessage(decoding: message) {
    case .open(let number, let name): try receiveOpen(number, name)
    case .finish(let id):
      try check(id)
      guard let stream = streams[id] else { return }
      guard !stream.isPeerFinished else { throw .invalid(what: "second end of a stream") }
      streams[id]?.isPeerFinished = true
      events.append(.readable(id))
    case .reset(let id):
      try check(id)
      guard streams[id] != nil else { return }
      remove(id)
      events.append(.reset(id, .reset))
    case .credit, .streams: throw .invalid(what: "kind")
    }
  }

  private mutating func receiveOpen(_ number: UInt64, _ name: String) throws(DecodeError) {
    guard number == accepted else { throw .invalid(what: "number of a stream") }
    guard number < acceptLimit else { throw .tooLarge(length: number, limit: acceptLimit) }
    accepted += 1
    let id = StreamID(isOutgoing: false, number: number)
    streams[id] = ByteStream()
    events.append(.opened(id, name: name))
  }

  /// Throws if a stream was never opened.
  private func check(_ id: StreamID) throws(DecodeError) {
    guard id.number < (id.isOutgoing ? opened : accepted) else {
      throw .invalid(what: "number of a stream")
    }
  }
}
