import CaromCodec
import CaromCore

// For callers that hold arrays: tests, and shells that are in no hurry.

extension Connection {
  /// Queues or offers a message.
  @discardableResult
  package mutating func send(
    _ bytes: [UInt8], on channel: UInt8, _ delivery: Delivery = .reliableOrdered,
    at now: Instant
  ) throws(SendError) -> UInt64? {
    try send(bytes.span, on: channel, SendOptions(delivery), at: now)
  }

  /// Bytes for a stream that holds `queued` bytes already; `nil` when there is nothing for it now.
  package mutating func pollStream(queued: Int, at now: Instant) -> [UInt8]? {
    var bytes: [UInt8] = []
    return pollStream(queued: queued, into: &bytes, at: now) ? bytes : nil
  }

  /// The next message, as an array of its own.
  package mutating func pollMessage() -> (channel: UInt8, bytes: [UInt8])? {
    var message: (UInt8, [UInt8])?
    _ = pollMessage { channel, bytes in message = (channel, Array(copying: bytes)) }
    return message
  }
}

extension Host {
  /// Queues or offers a message.
  @discardableResult
  package mutating func send(
    _ bytes: [UInt8], on channel: UInt8, _ delivery: Delivery = .reliableOrdered,
    to link: ConnectionID, at now: Instant
  ) throws(SendError) -> UInt64? {
    try send(bytes.span, on: channel, SendOptions(delivery), to: link, at: now)
  }

  /// Bytes for a stream that holds `queued` bytes already; `nil` when there is nothing for it now.
  package mutating func pollTransmit(on link: ConnectionID, queued: Int, at now: Instant)
    -> [UInt8]?
  {
    var bytes: [UInt8] = []
    return pollTransmit(on: link, queued: queued, into: &bytes, at: now) ? bytes : nil
  }

  /// The next message of a link, as an array of its own.
  package mutating func pollMessage(on link: ConnectionID) -> (channel: UInt8, bytes: [UInt8])? {
    var message: (UInt8, [UInt8])?
    _ = pollMessage(on: link) { channel, bytes in message = (channel, Array(copying: bytes)) }
    return message
  }
}

extension Lobby {
  /// The next message of a link, as an array of its own.
  package mutating func pollMessage(on link: ConnectionID) -> (channel: UInt8, bytes: [UInt8])? {
    var message: (UInt8, [UInt8])?
    _ = pollMessage(on: link) { channel, bytes in message = (channel, Array(copying: bytes)) }
    return message
  }

  /// Bytes for a stream that holds `queued` bytes already; `nil` when there is nothing for it now.
  package mutating func pollTransmit(on link: ConnectionID, queued: Int, at now: Instant)
    -> [UInt8]?
  {
    var bytes: [UInt8] = []
    return pollTransmit(on: link, queued: queued, into: &bytes, at: now) ? bytes : nil
  }
}
