import CaromCore

/// The small reliable messages that are repeated in the next packets, before it is known whether
/// they arrived.
struct RedundantSends: Sendable {
  struct Pending: Sendable, BitwiseCopyable {
    var channel: UInt8
    var delivery: Delivery
    /// The number of packets that still have to carry a copy.
    var copies: UInt8
    /// The value of `SendState.packetCount` for the packet in which the message was sent first.
    var packet: UInt64
    /// The message's number within its lane.
    var number: UInt64
  }

  private var pending = Deque<Pending>()
  /// The fractional part of the redundancy, which is carried over to the next packet with small
  /// messages.
  var leftover = 0.0

  var count: Int { pending.count }

  /// Schedules copies of a message. If the queue is full, the oldest message gets no more copies.
  mutating func add(_ message: Pending) {
    if pending.count == ChannelLimits.redundantMessages { pending.popFirst() }
    pending.append(message)
  }

  mutating func popFirst() -> Pending? { pending.popFirst() }
  mutating func append(_ message: Pending) { pending.append(message) }
  mutating func removeAll() { pending.removeAll() }

  /// Returns the redundancy, the average number of copies of a small reliable message, for a loss
  /// rate of `loss` (0 to 1). The redundancy is chosen so that fewer than one message in a hundred
  /// has to wait for the detection of a loss. Each message that is lost with all its copies is
  /// assumed to delay the seven messages behind it.
  static func redundancy(at loss: Double) -> Double {
    switch loss {
    case ..<0.005: 0
    case ..<0.026: 1
    case ..<0.066: 1 + (loss - 0.026) / 0.04
    case ..<0.12: 2
    case ..<0.2: 2 + (loss - 0.12) / 0.08
    default: 3
    }
  }
}

extension ChannelSet {
  /// Writes copies of small reliable messages from earlier packets into the remaining space of a
  /// packet.
  mutating func writeRedundantSends(
    _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) {
    for _ in 0..<sendState.redundantSends.count {
      guard var message = sendState.redundantSends.popFirst() else { return }
      if message.packet != sendState.packetCount {
        guard let lane = sendLane(of: message.channel, message.delivery) else { continue }
        switch lanes[lane].writeCopy(message.number, &sendState, &writer, &records) {
        case .obsolete: continue
        case .noRoom: break
        case .wrote:
          sendState.statistics.redundant += 1
          message.copies -= 1
        }
      }
      if message.copies > 0 { sendState.redundantSends.append(message) }
    }
  }
}

extension SendLane {
  /// The result of writing another copy of a message.
  enum Copy: Sendable {
    case wrote
    case noRoom
    /// The message needs no more copies.
    case obsolete
  }

  /// Schedules redundant copies of a message that was just sent whole, if the message is small.
  mutating func scheduleRedundancy(
    _ message: SendMessage, _ number: UInt64, _ sendState: inout SendState, _ filling: Filling
  ) {
    guard message.length <= ChannelLimits.redundantLength else { return }
    sendState.redundantSends.leftover = filling.leftover
    guard filling.copies > 0 else { return }
    sendState.redundantSends.add(
      RedundantSends.Pending(
        channel: channel, delivery: delivery, copies: UInt8(clamping: filling.copies),
        packet: sendState.packetCount, number: number))
  }

  /// Writes another copy of an unacknowledged message. Returns `obsolete` if the message needs no
  /// copy because it is acknowledged, dropped, fragmented, or already scheduled for retransmission.
  mutating func writeCopy(
    _ number: UInt64, _ sendState: inout SendState, _ writer: inout FrameWriter,
    _ records: inout [FrameRecord]
  ) -> Copy {
    guard let position = position(of: number), !outstanding[position].isLost,
      outstanding[position].fragments < 0
    else { return .obsolete }
    guard writeWhole(outstanding[position], number, &sendState, &writer, &records) else {
      return .noRoom
    }
    outstanding[position].copies += 1
    return .wrote
  }

  /// Writes another copy of each of the lane's first `redundantMessages` unacknowledged messages,
  /// the oldest first, until the packet is full.
  mutating func repeatUnacknowledged(
    _ sendState: inout SendState, _ writer: inout FrameWriter, _ records: inout [FrameRecord]
  ) {
    for position in 0..<min(outstanding.count, ChannelLimits.redundantMessages)
    where !outstanding[position].isDone {
      if writeCopy(base + UInt64(position), &sendState, &writer, &records) == .noRoom { return }
    }
  }
}
