import CaromCore

// For callers that hold arrays: tests, and shells that are in no hurry.

extension Connection {
  /// Queues a message that has to arrive, in the order of sending.
  package mutating func send(_ bytes: [UInt8], on channel: UInt16) throws(SendError) {
    try send(bytes.span, on: channel)
  }

  /// Offers the newest message of a channel; one that still waits on it is replaced.
  package mutating func post(_ bytes: [UInt8], on channel: UInt16) throws(SendError) {
    try post(bytes.span, on: channel)
  }

  /// Bytes for a link that holds `queued` bytes already; `nil` when there is nothing for it now.
  package mutating func pollTransmit(queued: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    return pollTransmit(queued: queued, into: &bytes) ? bytes : nil
  }
}

extension Host {
  /// Queues a message that has to arrive, in the order of sending.
  package mutating func send(
    _ bytes: [UInt8], on channel: UInt16, to link: LinkID
  ) throws(SendError) { try send(bytes.span, on: channel, to: link) }

  /// Offers the newest message of a channel; one that still waits on it is replaced.
  package mutating func post(
    _ bytes: [UInt8], on channel: UInt16, to link: LinkID
  ) throws(SendError) { try post(bytes.span, on: channel, to: link) }

  /// Bytes for a link that holds `queued` bytes already; `nil` when there is nothing for it now.
  package mutating func pollTransmit(on link: LinkID, queued: Int, at now: Instant) -> [UInt8]? {
    var bytes: [UInt8] = []
    return pollTransmit(on: link, queued: queued, into: &bytes, at: now) ? bytes : nil
  }
}

extension Lobby {
  /// Bytes for a link that holds `queued` bytes already; `nil` when there is nothing for it now.
  package mutating func pollTransmit(on link: LinkID, queued: Int, at now: Instant) -> [UInt8]? {
    var bytes: [UInt8] = []
    return pollTransmit(on: link, queued: queued, into: &bytes, at: now) ? bytes : nil
  }
}
