import CaromCodec
import CaromCore

/// What waits to leave on one connection: reliable frames in order, and for each
/// latest-wins channel the newest message only.
struct Outbox: Sendable {
  /// The most bytes of reliable frames that may wait: a peer that does not read costs no more.
  static let reliableLimit = 1 << 20
  /// While the link below holds this many bytes, latest-wins messages stay here, where a newer one
  /// can still replace them. One 60 Hz state is some hundred bytes.
  static let latestThreshold = 4 << 10
  /// The most latest-wins channels that may have a message waiting.
  static let latestChannelLimit = 64
  /// The most room in bytes that a channel keeps between two messages, so that one that is sent
  /// each tick allocates nothing.
  static let keptCapacity = 4 << 10

  /// A latest-wins channel that was used.
  private struct Slot: Sendable {
    var channel: UInt16
    var payload: [UInt8]
    var isWaiting = true
  }

  private var stream: [UInt8] = []
  private var taken = 0
  private var slots: [Slot] = []
  private var waitingCount = 0

  /// Bytes of reliable frames that wait.
  var reliableCount: Int { stream.count - taken }

  /// Bytes of reliable frames that cost memory, those that have left included.
  var keptBytes: Int { stream.count }

  var isEmpty: Bool { reliableCount == 0 && waitingCount == 0 }

  /// Queues a packet that has to arrive.
  mutating func append(_ packet: Packet) {
    append(type: packet.type, action: packet.action, payload: packet.payload.span)
  }

  /// Queues a packet that has to arrive.
  mutating func append(type: UInt16, action: UInt16, payload: Span<UInt8>) {
    Packet.appendFrame(type: type, action: action, payload: payload, to: &stream)
  }

  /// Keeps the newest message of a channel.
  mutating func replace(_ payload: Span<UInt8>, on channel: UInt16) {
    guard let index = slot(for: channel) else { return }
    if !slots[index].isWaiting { waitingCount += 1 }
    slots[index].isWaiting = true
    slots[index].payload.removeAll(keepingCapacity: true)
    slots[index].payload.append(copying: payload)
  }

  /// The channel's own slot, or one that nothing waits in.
  private mutating func slot(for channel: UInt16) -> Int? {
    if let index = slots.firstIndex(where: { $0.channel == channel }) { return index }
    if slots.count < Self.latestChannelLimit {
      slots.append(Slot(channel: channel, payload: [], isWaiting: false))
      return slots.count - 1
    }
    guard let free = slots.firstIndex(where: { !$0.isWaiting }) else { return nil }
    slots[free].channel = channel
    return free
  }

  /// Appends to `buffer` what is to be handed down now to a link that holds `queued` bytes
  /// already, a piece at a time; `false` when that is nothing.
  mutating func take(queued: Int, into buffer: inout [UInt8]) -> Bool {
    guard !isEmpty, queued < SessionLink.pieceLength else { return false }
    if reliableCount == 0 {
      guard queued < Self.latestThreshold else { return false }
      let waiting = slots.reduce(0) { $0 + ($1.isWaiting ? $1.payload.count : 0) }
      if waiting <= SessionLink.pieceLength {
        takeLatest(into: &buffer)
        return true
      }
      var rest: [UInt8] = []
      takeLatest(into: &rest)
      stream = rest
    }
    takePiece(into: &buffer)
    return true
  }

  private mutating func takeLatest(into buffer: inout [UInt8]) {
    for index in slots.indices where slots[index].isWaiting {
      var payload: [UInt8] = []
      swap(&payload, &slots[index].payload)  // one owner, so that its room can be kept
      Packet.appendFrame(
        type: SessionWire.messageType, action: slots[index].channel, payload: payload.span,
        to: &buffer)
      payload.removeAll(keepingCapacity: payload.capacity <= Self.keptCapacity)
      slots[index].payload = payload
      slots[index].isWaiting = false
    }
    waitingCount = 0
  }

  private mutating func takePiece(into buffer: inout [UInt8]) {
    let piece = SessionLink.pieceLength
    let end = min(stream.count, taken + piece)
    buffer.append(copying: stream.span.extracting(taken..<end))
    taken = end
    guard taken == stream.count else {
      // What was taken goes where it is most, so that a queue that never runs dry stays bounded.
      guard taken >= Self.reliableLimit, taken > stream.count / 2 else { return }
      stream.removeFirst(taken)
      taken = 0
      return
    }
    stream.removeAll(keepingCapacity: stream.capacity <= piece)
    taken = 0
  }

  /// Drops the latest-wins messages that have not left.
  mutating func dropLatest() {
    for index in slots.indices { slots[index].isWaiting = false }
    waitingCount = 0
  }
}
