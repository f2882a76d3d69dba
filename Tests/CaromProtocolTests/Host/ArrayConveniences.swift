import CaromCodec
import CaromCore

@testable import CaromProtocol

// Sending, polling and reading with arrays, which is simpler than spans and buffers in tests.

extension Connection {
  /// The number of bytes of messages and control packets that have not been sent even once.
  var queuedBytes: Int { channels.pendingBytes + (stream?.controlBytes ?? 0) }

  @discardableResult
  mutating func send(
    _ bytes: [UInt8], on channel: UInt8, _ delivery: Delivery = .reliableOrdered,
    at now: Instant
  ) throws(SendError) -> UInt64? {
    try send(bytes.span, on: channel, SendOptions(delivery), at: now)
  }

  mutating func pollStream(queued: Int, at now: Instant) -> [UInt8]? {
    var bytes: [UInt8] = []
    var scratch = Scratch()
    let hasBytes = pollStream(queued: queued, &scratch, at: now) { bytes = Array(copying: $0) }
    return hasBytes ? bytes : nil
  }

  mutating func pollMessage() -> (channel: UInt8, bytes: [UInt8])? {
    var message: (UInt8, [UInt8])?
    _ = pollMessage { channel, bytes in message = (channel, Array(copying: bytes)) }
    return message
  }
}

extension Connection {
  mutating func pollDatagram(into buffer: inout [UInt8], at now: Instant) -> Route? {
    var scratch = Scratch()
    guard let route = pollDatagram(&scratch, at: now) else { return nil }
    buffer.append(copying: scratch.writer.span)
    return route
  }

  /// Handles bytes from the stream.
  mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
    var scratch = Scratch()
    receive(bytes, &scratch, at: now)
  }

  /// Handles a data packet, all of whose messages are stored until they are read.
  mutating func receiveDatagram(_ packet: Span<UInt8>, at now: Instant) {
    var arrivals = Arrivals()
    var scratch = Scratch()
    receiveDatagram(packet, into: &arrivals, &scratch, at: now)
  }

  var hasStreamOutput: Bool {
    var copy = self
    return copy.findStreamOutput()
  }
}

extension Host {
  @discardableResult
  mutating func send(
    _ bytes: [UInt8], on channel: UInt8, _ delivery: Delivery = .reliableOrdered,
    to id: ConnectionID, at now: Instant
  ) throws(SendError) -> UInt64? {
    try send(bytes.span, on: channel, SendOptions(delivery), to: id, at: now)
  }

  mutating func pollTransmit(on id: ConnectionID, queued: Int, at now: Instant) -> [UInt8]? {
    var bytes: [UInt8] = []
    return pollTransmit(on: id, queued: queued, at: now, { bytes = Array(copying: $0) })
      ? bytes : nil
  }

  /// Returns the datagrams of the ready connections, up to the first connection that may have
  /// output for a stream, and this connection.
  mutating func transmitDatagrams(
    at now: Instant
  ) -> (datagrams: [([UInt8], Route)], next: ConnectionID?) {
    var datagrams: [([UInt8], Route)] = []
    let next = transmitDatagrams(at: now) { bytes, route in
      datagrams.append((Array(copying: bytes), route))
    }
    return (datagrams, next)
  }

  mutating func pollMessage(on id: ConnectionID) -> (channel: UInt8, bytes: [UInt8])? {
    var message: (UInt8, [UInt8])?
    _ = pollMessage(on: id) { channel, bytes in message = (channel, Array(copying: bytes)) }
    return message
  }
}

extension Host {
  /// The number of free player seats.
  var freeSeats: Int { freeSeats(forSpectators: false) }
}
