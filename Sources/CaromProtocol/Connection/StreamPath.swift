import CaromCodec
import CaromCore

/// A connection's way over a stream (TCP): control packets as they are, and messages as frames in
/// carriers, which are numbered by their count alone.
///
/// The stream brings everything in order as long as it lives; what is acknowledged here is what a
/// successor need not carry again when it does not.
struct StreamPath: Sendable {
  /// The most bytes of frames in one carrier: what is ahead of a small message at most.
  static let carrierLength = 16 << 10
  /// The most bytes of control packets that wait: whoever asks and never reads costs no more.
  static let controlLimit = 64 << 10
  /// While the stream holds this many bytes, unreliable messages stay where a newer one replaces
  /// them. One 60 Hz state is some hundred bytes.
  static let latestThreshold = 4 << 10
  /// Carriers, or bytes of them, that are acknowledged together at most.
  static let acknowledgedTogether = (carriers: 32, bytes: 64 << 10)
  static let acknowledgementDelay: Int64 = 50_000_000
  /// A peer that acknowledges nothing gets so many carriers, and no more until it does.
  static let mostUnacknowledged = 64 << 10
  /// The longest carrier that is accepted; `carrierLength` and what stands around it is sent.
  static let frameLimit = 80 << 10

  private var decoder = FrameDecoder()
  private var control: [UInt8] = []
  private var records = Deque<FrameRecord>()
  /// How many records each carrier has that is not acknowledged.
  private var counts = Deque<Int32>()
  private var sent: UInt64 = 0
  private var received: UInt64 = 0
  private var told: UInt64 = 0
  private var untoldBytes = 0
  /// When it comes to owe an acknowledgement.
  private var acknowledgeAt: Instant?
  /// Whether an acknowledgement is to leave as soon as the stream has room.
  private(set) var owesAcknowledgement = false

  /// Whether both ends know whose it is: carriers flow.
  var isJoined = false

  init(limit: Int) { decoder.limit = limit }
}

// MARK: - What comes in
extension StreamPath {
  mutating func receive(_ bytes: Span<UInt8>, at now: Instant) {
    decoder.receive(bytes, at: now)
  }

  mutating func next() throws(FrameError) -> [UInt8]? { try decoder.next() }

  mutating func handleTimeout(at now: Instant) throws(FrameError) {
    if let acknowledgeAt, now >= acknowledgeAt { oweAcknowledgement() }
    try decoder.handleTimeout(at: now)
  }

  private mutating func oweAcknowledgement() {
    owesAcknowledgement = true
    acknowledgeAt = nil
  }

  /// The seat is granted: carriers may come, which are longer than requests.
  mutating func join() {
    isJoined = true
    decoder.limit = Self.frameLimit
  }

  /// A carrier came; `elicits` says whether it holds more than an acknowledgement.
  mutating func didReceive(bytes: Int, isAckEliciting: Bool, at now: Instant) {
    received += 1
    guard isAckEliciting else { return }
    untoldBytes += bytes
    let limit = Self.acknowledgedTogether
    if received - told >= limit.carriers || untoldBytes >= limit.bytes {
      oweAcknowledgement()
    } else if acknowledgeAt == nil, !owesAcknowledgement {
      acknowledgeAt = now.advanced(byNanoseconds: Self.acknowledgementDelay)
    }
  }

  /// Carriers up to `largest` have come; `false` when so many were never sent.
  mutating func handleAcknowledgement(
    _ largest: UInt64, acknowledged: inout [FrameRecord]
  ) -> Bool {
    guard largest < sent else { return false }
    while sent - UInt64(counts.count) <= largest, let count = counts.popFirst() {
      for _ in 0..<count { if let record = records.popFirst() { acknowledged.append(record) } }
    }
    return true
  }

  /// The stream is gone: what was not acknowledged may not have come.
  mutating func abandonAll(lost: inout [FrameRecord]) {
    while let record = records.popFirst() { lost.append(record) }
    counts = Deque()
  }
}

// MARK: - What goes out
extension StreamPath {
  var waitingBytes: Int { control.count }
  var hasControl: Bool { !control.isEmpty }

  mutating func append(_ packet: ControlPacket) {
    let packet = packet.packet
    Packet.appendFrame(
      type: packet.type, action: packet.action, payload: packet.payload.span, to: &control)
  }

  var nextTimeout: Instant? { earliest(decoder.nextTimeout, acknowledgeAt) }

  /// Appends to `buffer` what is to be handed now to a stream that holds `queued` bytes; `false`
  /// when that is nothing.
  mutating func pollTransmit(
    queued: Int, _ channels: inout ChannelSet, carries: Bool, _ scratch: inout Scratch,
    into buffer: inout [UInt8], at now: Instant
  ) -> Bool {
    let start = buffer.count
    guard queued < SessionLink.pieceLength else { return false }
    if !control.isEmpty {
      buffer.append(copying: control.span)
      control.removeAll(keepingCapacity: control.capacity <= Self.controlLimit)
    }
    while isJoined, queued + buffer.count - start < SessionLink.pieceLength {
      let includesLatest = queued + buffer.count - start < Self.latestThreshold
      guard
        appendCarrier(
          &channels, carries: carries, latest: includesLatest, &scratch, to: &buffer, at: now)
      else { break }
    }
    return buffer.count > start
  }

  private mutating func appendCarrier(
    _ channels: inout ChannelSet, carries: Bool, latest: Bool, _ scratch: inout Scratch,
    to buffer: inout [UInt8], at now: Instant
  ) -> Bool {
    let owes = owesAcknowledgement
    guard owes || carries && channels.hasPending, counts.count < Self.mostUnacknowledged else {
      return false
    }
    scratch.writer.begin(limit: Self.carrierLength)
    scratch.records.removeAll(keepingCapacity: true)
    if received > told {
      scratch.ranges.removeAll()
      scratch.ranges.append(told...received - 1)
      _ = scratch.writer.appendAcknowledgement(scratch.ranges, ackDelay: AckDelay(byte: 0))
    }
    let head = scratch.writer.count
    if carries {
      channels.fill(
        &scratch.writer, records: &scratch.records, redundancy: 0, includeBulk: true,
        includeLatest: latest,
        at: now)
    }
    guard owes || scratch.writer.count > head else { return false }
    if received > told {
      told = received
      untoldBytes = 0
      acknowledgeAt = nil
      owesAcknowledgement = false
    }
    Packet.appendFrame(
      type: SessionWire.carrierType, action: 0, payload: scratch.writer.span, to: &buffer)
    for record in scratch.records { records.append(record) }
    counts.append(Int32(scratch.records.count))
    sent += 1
    return true
  }
}
