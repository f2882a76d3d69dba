import CaromCore

/// An SCTP association over DTLS (RFC 8261) with one data channel, which is negotiated, unordered
/// and without retransmissions: stream 0. One message is one datagram of the protocol above, which
/// paces what it sends and detects losses itself; so this has no congestion control, and never
/// sends a message twice.
///
/// Pass received packets to `receive`, then call `pollTransmit`; call `handleTimeout`, and then
/// `pollTransmit`, at the time that `findTimeout` returns. DTLS has authenticated the peer, so its
/// packets can harm only its own association.
package struct SCTPAssociation: Sendable {
  /// The maximum length of a message, in bytes.
  package static let maximumMessageLength = 1_200
  /// The length up to which several chunks share a packet, in bytes. With the headers of DTLS, UDP
  /// and IPv6 such a packet fits into 1,280 bytes. A single message may make a packet longer.
  static let packetLimit = 1_188
  /// The maximum length of a packet, in bytes.
  package static let maximumPacketLength =
    headerLength + SCTPData.headerLength + maximumMessageLength
  /// The length of the header that all chunks of a packet share, in bytes.
  static let headerLength = 12
  /// The port of both sides (RFC 8841 §5).
  static let port: UInt16 = 5_000

  /// Which side sends INIT. Both may.
  package enum Role: Sendable { case initiator, responder }

  package enum State: Hashable, Sendable {
    /// The handshake is not complete. Nothing can be sent.
    case waiting
    case established
    case closed(CloseReason)
  }

  package enum CloseReason: Hashable, Sendable {
    /// `abort()` was called.
    case abortedHere
    /// The peer aborted the association.
    case aborted
    /// The peer shut the association down.
    case shutDown
    /// The peer closed the data channel.
    case channelClosed
    /// The peer did not answer INIT or COOKIE ECHO.
    case timedOut
    /// The peer broke the protocol, or cannot abandon messages.
    case violated
  }

  /// The numbers that have to be random.
  package struct Secrets: Sendable {
    /// The tag of the packets to this side, other than 0.
    package var tag: UInt32
    /// The TSN of the first message of this side.
    package var firstTSN: UInt32
    /// The cookie of this side's INIT ACK, and the seed of numbers for later handshakes.
    package var cookie: UInt64

    package init(tag: UInt32, firstTSN: UInt32, cookie: UInt64) {
      precondition(tag != 0, "the tag 0 is that of INIT")
      self.tag = tag
      self.firstTSN = firstTSN
      self.cookie = cookie
    }
  }

  /// What has happened to packets and messages, as counts.
  package struct Statistics: Hashable, Sendable {
    /// Received packets with a wrong header or checksum.
    package var malformedPackets = 0
    package var messagesReceived = 0
    package var messagesSent = 0
    /// Messages that were not sent, since the peer had no room or the association was not
    /// established.
    package var messagesRefused = 0
    /// Chunks of data that had been received before.
    package var duplicates = 0
    /// Chunks of data that were too far ahead to be remembered.
    package var outsideWindow = 0
    /// Chunks of data that were acknowledged, but have no place in the channel: of other streams
    /// or payload protocols, or too long.
    package var undeliverable = 0
  }

  package enum Phase: Hashable, Sendable {
    /// Waits for the peer's INIT.
    case listening
    /// INIT has been sent.
    case cookieWait
    /// COOKIE ECHO has been sent.
    case cookieEchoed
    case established
    case closed(CloseReason)
  }

  /// An INIT of the peer and the INIT ACK with which it was answered.
  struct Offer {
    var theirs: InitChunk
    var ours: InitChunk
  }

  // What every packet needs comes first.
  package internal(set) var phase: Phase
  /// The tag of received packets.
  var ownTag: UInt32
  /// The tag of sent packets, 0 until it is known.
  var peerTag: UInt32 = 0
  var acknowledgement = AcknowledgementTimer()
  var forward = ForwardTimer()
  /// Chunks that answer the peer, and are sent with the next packet.
  var control: [UInt8] = []
  /// The chunk INIT ACK or ABORT that answers an INIT, in a packet of its own, and its tag.
  var detached: [UInt8] = []
  var detachedTag: UInt32 = 0
  /// The packet that is written, reused.
  var packet: [UInt8] = []
  package internal(set) var statistics = Statistics()
  var received = TSNWindow(first: TSN(0))
  var sent = SentMessages(first: TSN(0), peerWindow: 0)
  var fragments = FragmentBuffer()

  var generator: SeededGenerator
  /// What this side says in its INIT or first INIT ACK.
  let ours: InitChunk
  /// The handshake that the peer may complete with a COOKIE ECHO.
  var offer: Offer?
  /// The INIT ACK of the peer while its cookie is sent back.
  var answer: InitChunk?
  var handshake = HandshakeTimer()

  /// Creates an association. An initiator sends INIT with the first `pollTransmit`.
  package init(_ role: Role, _ secrets: Secrets) {
    phase = role == .initiator ? .cookieWait : .listening
    ours = InitChunk(tag: secrets.tag, firstTSN: TSN(secrets.firstTSN))
    ownTag = secrets.tag
    generator = SeededGenerator(seed: secrets.cookie)
  }

  package var state: State {
    switch phase {
    case .listening, .cookieWait, .cookieEchoed: .waiting
    case .established: .established
    case .closed(let reason): .closed(reason)
    }
  }

  /// Closes the association. The next `pollTransmit` tells the peer so.
  package mutating func abort() {
    if case .closed = phase { return }
    close(.abortedHere, cause: ErrorCause.userInitiatedAbort)
  }

  /// Closes the association, and tells the peer unless `cause` is nil or its tag is not known.
  mutating func close(_ reason: CloseReason, cause: UInt16?) {
    phase = .closed(reason)
    offer = nil
    if let cause, peerTag != 0 { control.appendAbort(cause) }
  }

  /// Returns the time at which `handleTimeout` and `pollTransmit` have something to do. The method
  /// is mutating so that the association is accessed in place rather than copied.
  package mutating func findTimeout() -> Instant? {
    switch phase {
    case .listening, .closed: nil
    case .cookieWait, .cookieEchoed: handshake.deadline
    case .established:
      earliest(earliest(acknowledgement.deadline, forward.deadline), sent.deadline)
    }
  }

  /// Repeats a chunk of the handshake, or abandons messages, if it is time. `pollTransmit` has to
  /// follow.
  package mutating func handleTimeout(at now: Instant) {
    switch phase {
    case .listening, .closed: break
    case .cookieWait, .cookieEchoed:
      if !handshake.handleTimeout(at: now) { close(.timedOut, cause: nil) }
    case .established:
      if sent.abandonOutstanding(at: now) { forward.schedule(at: now) }
    }
  }
}
