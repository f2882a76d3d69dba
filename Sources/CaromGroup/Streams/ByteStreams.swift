import CaromCore

/// The byte streams over one connection: named, in both directions, opened by either side.
///
/// Each stream has credit of its own in each direction, so that a stream whose reader stops delays
/// no other stream. The machine knows no sockets: its owner passes in what arrives on the two
/// channels, and gives what `pollTransmit` returns to the session. Both channels must be reliable
/// and ordered. After every call, poll `pollEvent` and then `pollTransmit` until they return nil.
package struct ByteStreams: Sendable {
  /// A message for the peer.
  package enum Transmit: Hashable, Sendable {
    /// A message on the control channel.
    case control([UInt8])
    /// A message on the data channel. Once the peer's session has acknowledged it, the owner calls
    /// `didDeliver` with the length of the message.
    case data([UInt8])
  }

  var streams: [StreamID: ByteStream] = [:]
  /// The streams that may have something to send, in the order in which they have their turns.
  var turns = Deque<StreamID>()
  /// The messages for the data channel that go before the bytes of all streams.
  var urgent = Deque<StreamMessage>()
  /// The streams whose credit has to be sent.
  var owingCredit = Deque<StreamID>()
  var events = Deque<StreamEvent>()
  var unacknowledged = 0
  var creditRoom = StreamLimits.creditGrowth

  /// The number of streams that this side has opened, and the number that it may open in total.
  var opened: UInt64 = 0
  var openLimit = UInt64(StreamLimits.streams)
  var wantsToOpen = false
  /// The number of streams that the peer has opened, and the number that it may open in total.
  var accepted: UInt64 = 0
  var acceptLimit = UInt64(StreamLimits.streams)
  var owesAcceptLimit = false

  package init() {}

  /// Ends all streams, because the connection has ended.
  package mutating func disconnect() {
    let ended = streams.keys.sorted()
    self = ByteStreams()
    for id in ended { events.append(.reset(id, .disconnected)) }
  }

  /// Returns the next event, or nil if there is none.
  package mutating func pollEvent() -> StreamEvent? { events.popFirst() }

  /// Records that the peer's session has acknowledged a message of `length` bytes on the data
  /// channel.
  package mutating func didDeliver(_ length: Int) {
    unacknowledged -= length
    precondition(unacknowledged >= 0, "a message is acknowledged once")
  }

  /// Removes a stream that is over, or was reset. A stream of the peer makes room for another.
  mutating func remove(_ id: StreamID) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    creditRoom += stream.credit.growth
    if stream.isScheduled { _ = turns.removeFirst { $0 == id } }
    if stream.owesCredit { _ = owingCredit.removeFirst { $0 == id } }
    guard !id.isOutgoing else { return }
    acceptLimit += 1
    owesAcceptLimit = true
  }

  mutating func removeIfOver(_ id: StreamID) {
    if streams[id]?.isOver == true { remove(id) }
  }
}

// MARK: - What the owner does
extension ByteStreams {
  /// Opens a stream to the peer.
  package mutating func open(_ name: String) throws(StreamFailure) -> StreamID {
    guard name.utf8.count <= StreamLimits.nameLength else { throw .nameTooLong }
    guard opened < openLimit else {
      wantsToOpen = true
      throw .tooManyStreams
    }
    let id = StreamID(isOutgoing: true, number: opened)
    opened += 1
    streams[id] = ByteStream()
    urgent.append(.open(id.number, name: name))
    return id
  }

  /// Queues as many of the bytes as there is room for, and returns their number. If it is less than
  /// all, a `writable` event follows.
  package mutating func write(
    _ bytes: Span<UInt8>, to id: StreamID
  ) throws(StreamFailure) -> Int {
    guard let stream = streams[id] else { throw .reset }
    guard !stream.isFinished else { throw .finished }
    let count = streams[id]?.append(bytes) ?? 0
    schedule(id)
    return count
  }

  /// Whether bytes can be queued on a stream, or an attempt would fail.
  package func hasRoom(_ id: StreamID) -> Bool {
    streams[id].map { $0.unsentBytes < StreamLimits.queuedBytes } ?? true
  }

  /// Whether `read` would return bytes or the end of a stream, or fail.
  package func isReadable(_ id: StreamID) -> Bool {
    streams[id].map { $0.unreadBytes > 0 || $0.isPeerFinished } ?? true
  }

  /// Ends this side's direction after the bytes that were written. The peer can still send.
  package mutating func finish(_ id: StreamID) {
    guard streams[id] != nil else { return }
    streams[id]?.isFinished = true
    schedule(id)
  }

  /// Removes and returns at most `count` bytes that have arrived: an empty array if none are there
  /// yet, and nil if the peer has ended its direction and everything was read.
  package mutating func read(
    _ count: Int, from id: StreamID, at now: Instant
  ) throws(StreamFailure) -> [UInt8]? {
    guard streams[id] != nil else { throw .reset }
    let bytes = streams[id]?.take(count) ?? []
    guard let stream = streams[id] else { return nil }
    if stream.isPeerFinished {
      guard bytes.isEmpty, stream.unreadBytes == 0 else { return bytes }
      streams[id]?.hasReadEnd = true
      removeIfOver(id)
      return nil
    }
    var credit = stream.credit
    let consumed = credit.consumed + UInt64(bytes.count)
    let isDue = credit.consume(
      upTo: consumed, received: stream.received, room: &creditRoom, at: now)
    if isDue, !stream.owesCredit {
      streams[id]?.owesCredit = true
      owingCredit.append(id)
    }
    streams[id]?.credit = credit
    return bytes
  }

  /// Ends a stream in both directions and tells the peer. Bytes that were not sent or not read are
  /// lost. Does nothing if the stream is over.
  package mutating func reset(_ id: StreamID) {
    guard streams[id] != nil else { return }
    remove(id)
    urgent.append(.reset(id))
  }
}

// MARK: - What is sent
extension ByteStreams {
  mutating func schedule(_ id: StreamID) {
    guard let stream = streams[id], !stream.isScheduled, stream.canSend else { return }
    streams[id]?.isScheduled = true
    turns.append(id)
  }

  /// Returns the next message for the peer, or nil if there is none or the session has enough to
  /// send.
  package mutating func pollTransmit() -> Transmit? {
    if owesAcceptLimit {
      owesAcceptLimit = false
      return .control(StreamMessage.streams(limit: acceptLimit).encoded)
    }
    if let id = owingCredit.popFirst() {
      streams[id]?.owesCredit = false
      let limit = streams[id]?.credit.limit ?? 0
      return .control(StreamMessage.credit(id, limit: limit).encoded)
    }
    guard unacknowledged < StreamLimits.unacknowledgedBytes else { return nil }
    if let message = urgent.popFirst() { return transmit(message.encoded) }
    return nextChunk()
  }

  private mutating func transmit(_ message: [UInt8]) -> Transmit {
    unacknowledged += message.count
    return .data(message)
  }

  /// Returns bytes or the end of a stream, from each stream in turn.
  private mutating func nextChunk() -> Transmit? {
    while let id = turns.popFirst() {
      streams[id]?.isScheduled = false
      guard let stream = streams[id], stream.canSend else { continue }
      guard stream.unsentBytes > 0 else {
        streams[id]?.hasSentFinish = true
        removeIfOver(id)
        return transmit(StreamMessage.finish(id).encoded)
      }
      let chunk = streams[id]?.takeChunk() ?? []
      schedule(id)
      reportRoom(id)
      return transmit(StreamMessage.data(id, chunk))
    }
    return nil
  }

  /// Reports a stream whose queue was full and is at most half full now.
  private mutating func reportRoom(_ id: StreamID) {
    guard let stream = streams[id], stream.wantsRoom,
      stream.unsentBytes <= StreamLimits.queuedBytes / 2
    else { return }
    streams[id]?.wantsRoom = false
    events.append(.writable(id))
  }
}
