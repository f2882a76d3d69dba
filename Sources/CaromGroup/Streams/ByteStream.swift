import CaromCore

/// One byte stream: what waits to be sent, what has arrived, and what either side may still send.
struct ByteStream: Sendable {
  // What this side sends.
  /// The bytes that wait for credit or for the session.
  var unsent = Deque<[UInt8]>()
  var unsentBytes = 0
  /// The number of bytes that were given to the session.
  var sent: UInt64 = 0
  /// The number of bytes that the peer accepts.
  var limit = UInt64(CreditWindow.initialSize)
  /// Whether this side writes no more.
  var isFinished = false
  /// Whether the peer was told so, after the last byte.
  var hasSentFinish = false
  /// Whether a write was cut short, so that the owner waits for room.
  var wantsRoom = false
  /// Whether the stream is in the queue of those that may have something to send.
  var isScheduled = false

  // What the peer sends.
  var unread = Deque<[UInt8]>()
  var unreadBytes = 0
  var received: UInt64 = 0
  var credit = CreditWindow()
  var owesCredit = false
  /// Whether the peer sends no more.
  var isPeerFinished = false
  /// Whether the owner has read everything and was told so.
  var hasReadEnd = false

  /// Whether the stream has bytes that the peer accepts, or an end, to send.
  var canSend: Bool {
    unsentBytes > 0 ? sent < limit : isFinished && !hasSentFinish
  }

  /// Whether both directions have ended: the end of this side's was given to the session, and the
  /// owner has seen that of the peer's.
  var isOver: Bool { hasSentFinish && hasReadEnd }

  /// Queues as many of the bytes as there is room for, and returns their number.
  mutating func append(_ bytes: Span<UInt8>) -> Int {
    let count = min(bytes.count, StreamLimits.queuedBytes - unsentBytes)
    wantsRoom = count < bytes.count
    guard count > 0 else { return 0 }
    unsent.append(Array(copying: bytes.extracting(0..<count)))
    unsentBytes += count
    return count
  }

  /// Removes and returns the bytes of the next message. There must be bytes that the peer accepts.
  mutating func takeChunk() -> [UInt8] {
    let room = min(Int(min(limit - sent, UInt64(Int32.max))), StreamLimits.chunkLength)
    var chunk: [UInt8] = []
    while chunk.count < room, let first = unsent.popFirst() {
      let count = min(first.count, room - chunk.count)
      if chunk.isEmpty, count == first.count { chunk = first } else { chunk += first[..<count] }
      if count < first.count { unsent.prepend(Array(first[count...])) }
    }
    sent += UInt64(chunk.count)
    unsentBytes -= chunk.count
    return chunk
  }

  /// Stores bytes that have arrived. Throws if they exceed the credit or follow the end.
  mutating func receive(_ bytes: [UInt8]) throws(DecodeError) {
    guard !isPeerFinished else { throw .invalid(what: "bytes after the end of a stream") }
    let end = received + UInt64(bytes.count)
    guard end <= credit.limit else { throw .tooLarge(length: end, limit: credit.limit) }
    received = end
    unread.append(bytes)
    unreadBytes += bytes.count
  }

  /// Removes and returns at most `count` bytes that have arrived.
  mutating func take(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count, let first = unread.popFirst() {
      let part = min(first.count, count - bytes.count)
      if bytes.isEmpty, part == first.count { bytes = first } else { bytes += first[..<part] }
      if part < first.count { unread.prepend(Array(first[part...])) }
    }
    unreadBytes -= bytes.count
    return bytes
  }
}
