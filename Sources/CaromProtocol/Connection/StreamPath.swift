import CaromCodec
import CaromCore

/// A connection's path over a stream (TCP). Control packets are sent as they are. Messages are sent
/// as frames inside carrier packets, which are not numbered but counted by both sides.
///
/// A stream delivers everything in order as long as it lasts. Carriers are acknowledged
/// nevertheless, so that after the end of the stream only the messages that did not arrive are sent
/// again on another link.
struct StreamPath: Sendable {
  /// The maximum number of bytes of frames in one carrier. A small message waits for at most one
  /// carrier to be written.
  static let carrierLength = 16 << 10
  /// The number of queued bytes of control packets at which pings are no longer answered. The limit
  /// bounds the memory that a peer can occupy by sending pings without reading the answers.
  static let controlLimit = 64 << 10
  /// The number of bytes in the stream's send queue at which unreliable messages are held back, so
  /// that newer messages can still replace them. The threshold leaves room for several game states,
  /// which take a few hundred bytes each if they are sent at 60 Hz.
  static let latestThreshold = 4 << 10
  /// The number of unacknowledged carriers, or of bytes in them, at which an acknowledgement is
  /// due.
  static let acknowledgeAfter = (carriers: 32, bytes: 64 << 10)
  /// The maximum delay of an acknowledgement, in nanoseconds: 50 ms.
  static let acknowledgementDelay: Int64 = 50_000_000
  /// The maximum number of unacknowledged carriers. At this limit, no carrier is sent until the
  /// peer acknowledges some.
  static let mostUnacknowledged = 64 << 10
  /// The maximum length of a stream frame after the handshake, in bytes. The limit exceeds the
  /// longest carrier that this version sends.
  static let frameLimit = 80 << 10

  private var decoder = FrameDecoder()
  private var control: [UInt8] = []
  /// The records of the unacknowledged carriers.
  private var records = Deque<FrameRecord>()
  /// For each unacknowledged carrier, how many of `records` belong to it.
  private var recordCounts = Deque<Int32>()
  /// The number of carriers sent.
  private var sent: UInt64 = 0
  /// The number of carriers received.
  private var received: UInt64 = 0
  /// The number of received carriers that were acknowledged.
  private var acknowledged: UInt64 = 0
  /// The number of bytes in the ack-eliciting carriers that were received since the last
  /// acknowledgement.
  private var unacknowledgedBytes = 0
  /// The time at which an acknowledgement becomes due; nil if none is scheduled.
  private var acknowledgeAt: Instant?
  /// Whether an acknowledgement must be sent as soon as the stream has space.
  private(set) var isAcknowledgementDue = false

  private var protection = Protection.none
  /// The time at which this side changes the key with which it encrypts, even if the stream is
  /// idle, so that the old key does not stay in memory; nil without keys, or before they are used.
  private var keyChangeDeadline: Instant?
  /// The number of bodies of stream frames that were encrypted and sent, and the number that were
  /// received and decrypted.
  private var sealedBodies = (sent: UInt64(0), received: UInt64(0))

  /// Whether the seat was granted, so that carriers may be sent and received on the stream.
  var isJoined = false

  /// How the bodies of the stream frames are protected.
  private enum Protection: Sendable {
    /// The bodies are in plaintext.
    case none
    /// The bodies are not encrypted yet: the handshake waits for the peer's next message.
    case handshake(LinkHandshake)
    case keys(BodyKeys)
  }

  /// The handshake of an encrypted stream while it waits for the peer's next message; nil
  /// otherwise.
  var handshake: LinkHandshake? {
    get { if case .handshake(let handshake) = protection { handshake } else { nil } }
    set { protection = newValue.map { .handshake($0) } ?? .none }
  }

  /// The keys of an encrypted stream, once the handshake has derived them; nil in plaintext.
  var keys: LinkKeys? { if case .keys(let keys) = protection { keys.link } else { nil } }

  /// Whether the stream's bytes arrive in the messages of a WebSocket. This decides only what is
  /// reported about the link.
  let isWebSocket: Bool
  /// Whether the stream is encrypted below the session, in place of the host's own encryption.
  let isSealed: Bool
  /// Whether the join code that the peer has shown below the session is right; nil if it has shown
  /// none.
  let isCodeRight: Bool?

  /// Creates a path that accepts stream frames of at most `limit` bytes until the handshake is
  /// complete.
  init(
    limit: Int, isWebSocket: Bool = false, isSealed: Bool = false, isCodeRight: Bool? = nil
  ) {
    self.isWebSocket = isWebSocket
    self.isSealed = isSealed
    self.isCodeRight = isCodeRight
    decoder.limit = limit
  }
}

// MARK: - Receiving
extension StreamPath {
  /// Returns the body of the next complete stream frame, or nil if there is none. See
  /// `FrameDecoder.next(in:from:at:)`.
  mutating func next(
    in chunk: Span<UInt8>, from offset: inout Int, at now: Instant
  ) throws(FrameError) -> FrameDecoder.Body? {
    try decoder.next(in: chunk, from: &offset, at: now)
  }

  mutating func handleTimeout(at now: Instant) throws(FrameError) {
    if let acknowledgeAt, now >= acknowledgeAt { scheduleAcknowledgement() }
    if let keyChangeDeadline, now >= keyChangeDeadline { changeKeyIfDue(at: now) }
    try decoder.handleTimeout(at: now)
  }

  private mutating func scheduleAcknowledgement() {
    isAcknowledgementDue = true
    acknowledgeAt = nil
  }

  /// Records that the seat was granted. From now on the stream accepts carriers, which are longer
  /// than requests.
  mutating func join() {
    isJoined = true
    decoder.limit = Self.frameLimit
  }

  /// Records that a carrier with `bytes` bytes of frames was received.
  mutating func didReceive(bytes: Int, isAckEliciting: Bool, at now: Instant) {
    received += 1
    guard isAckEliciting else { return }
    unacknowledgedBytes += bytes
    let limit = Self.acknowledgeAfter
    if received - acknowledged >= limit.carriers || unacknowledgedBytes >= limit.bytes {
      scheduleAcknowledgement()
    } else if acknowledgeAt == nil, !isAcknowledgementDue {
      acknowledgeAt = now.advanced(byNanoseconds: Self.acknowledgementDelay)
    }
  }

  /// Handles an acknowledgement of the carriers up to number `largest`. Returns `false` if the
  /// carrier `largest` was never sent.
  mutating func handleAcknowledgement(
    _ largest: UInt64, acknowledged: inout [FrameRecord]
  ) -> Bool {
    guard largest < sent else { return false }
    while sent - UInt64(recordCounts.count) <= largest, let count = recordCounts.popFirst() {
      for _ in 0..<count { if let record = records.popFirst() { acknowledged.append(record) } }
    }
    return true
  }

  /// Declares all unacknowledged carriers lost, because the stream has ended.
  mutating func abandonAll(lost: inout [FrameRecord]) {
    while let record = records.popFirst() { lost.append(record) }
    recordCounts = Deque()
  }
}

// MARK: - Sending
extension StreamPath {
  /// The number of bytes of queued control packets.
  var controlBytes: Int { control.count }
  /// Whether control packets are queued.
  var hasControl: Bool { !control.isEmpty }

  /// Queues a control packet.
  mutating func append(_ packet: ControlPacket) {
    let packet = packet.packet
    guard keys != nil else {
      return Packet.appendFrame(
        type: packet.type, action: packet.action, payload: packet.payload.span, to: &control)
    }
    var writer = PacketWriter()
    packet.encode(into: &writer)
    var body = writer.bytes + [UInt8](repeating: 0, count: LinkKeys.overhead)
    var span = body.mutableSpan
    seal(&span, from: 0)
    do throws(FrameError) {
      try FrameEncoder(limit: .max).append(body.span, to: &control)
    } catch { preconditionFailure("a control packet is far shorter than Int.max") }
  }

  /// Encrypts the body of a stream frame in place: the bytes of `buffer` from `start` on. The last
  /// bytes of the body are reserved for the tag.
  private mutating func seal(_ buffer: inout MutableSpan<UInt8>, from start: Int) {
    guard case .keys(let keys) = protection else { return }
    keys.seal(&buffer, from: start, number: sealedBodies.sent)
    sealedBodies.sent += 1
  }

  /// Begins to encrypt and decrypt the bodies of stream frames with `keys`.
  mutating func begin(_ keys: DerivedKeys, _ limits: KeyLimits) {
    protection = .keys(BodyKeys(keys, limits))
  }

  /// The keys that encrypt the bodies now; nil exactly if `keys` is.
  var bodyKeys: BodyKeys? { if case .keys(let keys) = protection { keys } else { nil } }

  /// Changes the key with which this side encrypts if that is due. The announcement is the last
  /// body that the old key encrypts.
  private mutating func changeKeyIfDue(at now: Instant) {
    guard case .keys(var keys) = protection else { return }
    if let keyChangeDeadline {
      guard now >= keyChangeDeadline || keys.isUsedUp(at: sealedBodies.sent) else { return }
      append(.keyChange)
      keys.changeSending(at: sealedBodies.sent)
      protection = .keys(keys)
    }
    keyChangeDeadline = now + keys.limits.lifetime
  }

  /// Changes the key with which the peer encrypts, as it has announced. Returns false if the stream
  /// has no keys.
  mutating func changeReceivingKey() -> Bool {
    guard case .keys(var keys) = protection else { return false }
    keys.changeReceiving()
    protection = .keys(keys)
    return true
  }

  /// Drops the keys, which must not be used, and the queued control packets. The path continues in
  /// plaintext.
  mutating func dropKeys() {
    protection = .none
    keyChangeDeadline = nil
    control.removeAll()
  }

  /// Whether an encrypted body from the peer has been decrypted.
  var hasOpenedBody: Bool { sealedBodies.received > 0 }

  /// Replaces `output` with the decrypted body of a stream frame. Returns false if `body` is not
  /// the next body that the peer has sealed.
  mutating func open(_ body: Span<UInt8>, into output: inout [UInt8]) -> Bool {
    output.removeAll(keepingCapacity: true)
    guard case .keys(let keys) = protection,
      keys.open(body, number: sealedBodies.received, into: &output)
    else { return false }
    sealedBodies.received += 1
    return true
  }

  /// The next time at which `handleTimeout` must be called, or `nil` if no timer is armed.
  var nextTimeout: Instant? {
    earliest(earliest(decoder.nextTimeout, acknowledgeAt), keyChangeDeadline)
  }

  /// Writes the next bytes for the stream to the scratch writer. Returns `false` if there is
  /// nothing to write now. `queued` is the number of bytes in the stream's send queue, and
  /// `carriesMessages` tells whether the stream is the link that carries messages.
  mutating func pollTransmit(
    queued: Int, _ channels: inout ChannelSet, carriesMessages: Bool, _ scratch: inout Scratch,
    at now: Instant
  ) -> Bool {
    changeKeyIfDue(at: now)
    scratch.writer.begin(limit: control.count)
    guard queued < SessionLink.writeLength else { return false }
    if !control.isEmpty {
      scratch.writer.append(copying: control.span)
      control.removeAll(keepingCapacity: control.capacity <= Self.controlLimit)
    }
    while isJoined, queued + scratch.writer.count < SessionLink.writeLength {
      let includeLatest = queued + scratch.writer.count < Self.latestThreshold
      guard
        appendCarrier(
          &channels, carriesMessages: carriesMessages, includeLatest: includeLatest, &scratch,
          at: now)
      else { break }
    }
    return scratch.writer.count > 0
  }

  /// Appends one carrier with the acknowledgement that is due and, if `carriesMessages` is true, as
  /// many messages as fit. Returns `false` if there is nothing to send.
  private mutating func appendCarrier(
    _ channels: inout ChannelSet, carriesMessages: Bool, includeLatest: Bool,
    _ scratch: inout Scratch, at now: Instant
  ) -> Bool {
    let isDue = isAcknowledgementDue
    guard isDue || carriesMessages && channels.hasPending,
      recordCounts.count < Self.mostUnacknowledged
    else { return false }
    let start = scratch.writer.beginStreamFrame(limit: Self.carrierLength)
    if keys != nil { scratch.writer.reserve(LinkKeys.overhead) }
    scratch.records.clear()
    if received > acknowledged {
      scratch.ranges.removeAll()
      scratch.ranges.append(acknowledged...received - 1)
      _ = scratch.writer.appendAcknowledgement(scratch.ranges, ackDelay: AckDelay(byte: 0))
    }
    let head = scratch.writer.count
    if carriesMessages {
      channels.fill(
        &scratch.writer, records: &scratch.records, includeLatest: includeLatest, at: now)
    }
    guard isDue || scratch.writer.count > head else {
      scratch.writer.removeStreamFrame(from: start)
      return false
    }
    recordAcknowledgementSent()
    if keys != nil { scratch.writer.appendReserved(LinkKeys.overhead) }
    let body = scratch.writer.endStreamFrame(from: start, type: SessionWire.carrierType)
    if keys != nil { scratch.writer.withBytes { seal(&$0, from: body) } }
    for record in scratch.records { records.append(record) }
    recordCounts.append(Int32(scratch.records.count))
    sent += 1
    return true
  }

  private mutating func recordAcknowledgementSent() {
    guard received > acknowledged else { return }
    acknowledged = received
    unacknowledgedBytes = 0
    acknowledgeAt = nil
    isAcknowledgementDue = false
  }
}

/// A stream that one host of a group hands over to another, with the bytes that were already read.
package struct HandedStream: Sendable {
  var path: StreamPath
  let key: ConnectionKey
  /// The peer that has requested a seat on the stream; `nil` if the stream only joins an open
  /// connection.
  let info: PeerInfo?
}
