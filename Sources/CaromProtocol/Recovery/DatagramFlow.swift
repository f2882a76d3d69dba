import CaromCore

/// One direction of packets over datagrams: numbers them, knows what came and what was lost, and
/// says how much may leave when.
///
/// Whoever drives it writes packets while `allowance` is there, tells `didSend`, hands it the
/// acknowledgements that come, and calls `handleTimeout` at `nextTimeout`. Each packet's records
/// come back once, as acknowledged or as lost.
package struct DatagramFlow: Sendable {
  /// What `handleTimeout` asks for.
  package enum Probe: Hashable, Sendable {
    /// A packet that elicits an acknowledgement: with new data, or what was sent and is not
    /// acknowledged, or nothing but a ping.
    case tail
  }

  /// Headers of IPv4 and UDP, bytes of each datagram besides its own.
  package static let headers = 28
  /// Packets after which the loss rate counts the past half.
  static let lossMemory = 1_024.0
  /// Lost packets are kept for so many round trips, so that mistakes are noticed.
  static let memory: Int64 = 2

  /// Packets in a row that elicit nothing.
  private static let mostQuiet = 32
  /// Packets beyond the largest that was acknowledged: a short acknowledgement names 16 bits of
  /// its number, and has to be understood.
  private static let mostUnacknowledged: UInt64 = 32_768

  package internal(set) var statistics = FlowStatistics()
  var sent = SentPackets()
  var detector = LossDetector()
  var delivery = DeliveryRate()
  var congestion = Congestion()
  var pacer = Pacer()
  var search: PathMTUSearch
  var loss = LossRate(memory: DatagramFlow.lossMemory)
  let maximumPayload: Int
  /// When the next packet counts as lost, nanoseconds.
  var lossDeadline = Int64.max
  /// When it was last seen whether a lost packet came.
  var lastLookAtLost: Int64 = 0
  private var quietInRow = 0
  /// The first packet that took the way that is used now.
  var firstOfPath: UInt64 = 0

  /// `maximumPayload` is the longest datagram that the interface sends (1,472 over IPv4 and
  /// Ethernet, 1,452 over IPv6); `roundTrip` nanoseconds, where a handshake has measured it.
  package init(maximumPayload: Int, roundTrip: Int64? = nil, at now: Instant) {
    self.maximumPayload = maximumPayload
    search = PathMTUSearch(maximum: maximumPayload, at: now.nanoseconds)
    if let roundTrip {
      congestion = Congestion(roundTrip: RoundTripEstimator(assuming: max(roundTrip, 1)))
    }
  }

  // MARK: What it knows

  /// The longest datagram that surely passes.
  package var packetSize: Int { search.size }
  /// The number of the packet that leaves next.
  package var nextNumber: UInt64 { sent.nextNumber }
  /// The largest number that was acknowledged.
  package var largestAcknowledged: UInt64? { detector.largest }
  /// Bytes under way, with the headers of IP and UDP.
  package var inFlight: Int { sent.inFlight }
  /// The round trip.
  package var roundTrip: RoundTripEstimator { congestion.roundTrip }
  /// The share of packets that was lost of late, whatever the reason.
  package var lossRate: Double { loss.value }
  /// So many packets elicited nothing that the next should: only an answer tells which of their
  /// acknowledgements came, and keeps packet numbers short.
  package var wantsAnswer: Bool { quietInRow >= Self.mostQuiet && sent.waiting.isEmpty }
  /// Bytes a second that leave at most, headers included.
  package var pacingRate: Double { congestion.rate }
  /// Bytes a second that the path delivers at most, as far as was seen, headers included.
  package var bandwidth: Double { congestion.bandwidth }
  /// The share of packets that is lost however little is sent.
  package var randomLoss: Double { congestion.randomLoss }
  /// How long packets wait in the path's queues, nanoseconds.
  package var queue: Int64 { congestion.queue }
  /// Bytes that may be under way, headers included.
  package var window: Int { congestion.window }

  // MARK: Sending

  /// Bytes that may leave now: 0, or one whole packet at least. Urgent packets, which are small,
  /// may leave before their time, up to a debt of `Pacer.maximumDebt` bytes, and whatever is under
  /// way: what follows waits longer for it.
  @inline(__always) package func allowance(at now: Instant, urgent: Bool) -> Int {
    guard !isFull else { return 0 }
    var credit = pacer.credit(at: now.nanoseconds, rate: congestion.rate)
    var room = congestion.window - sent.inFlight
    if urgent {
      credit += Pacer.maximumDebt
      room = max(room, Pacer.maximumDebt)
    }
    guard credit >= 0, room > 0 else { return 0 }
    return max(packetSize, min(credit, room))
  }

  @inline(__always) private var isFull: Bool {
    sent.isFull
      || sent.nextNumber - (largestAcknowledged.map { $0 + 1 } ?? 0) >= Self.mostUnacknowledged
  }

  /// When `allowance` grows from 0 by the passing of time alone; `nil` where only an
  /// acknowledgement or a time-out helps.
  package func nextSendTime(urgent: Bool = false) -> Instant? {
    guard !isFull, urgent || congestion.window > sent.inFlight else { return nil }
    let debt = urgent ? Double(Pacer.maximumDebt) * 1e9 / congestion.rate : 0
    return Instant(nanoseconds: max(pacer.next, 0) + Pacer.quantum - Int64(debt))
  }

  /// A packet has left: it took `nextNumber`. `bytes` is the datagram's payload; `isAppLimited`
  /// says that nothing more waits to be sent.
  package mutating func didSend(
    bytes: Int, isAckEliciting: Bool, records: [FrameRecord], isMTUProbe: Bool = false,
    isAppLimited: Bool, at now: Instant
  ) {
    let size = bytes + Self.headers
    var packet = SentPacket(sent: now.nanoseconds, bytes: size, traits: [])
    if isAckEliciting { packet.traits.insert(.isAckEliciting) }
    if congestion.isCalm { packet.traits.insert(.isCalm) }
    if isMTUProbe {
      packet.traits.insert(.probesMTU)
      search.noteProbeSent()
    }
    if isAckEliciting {
      delivery.stamp(
        &packet, inFlight: sent.inFlight, isAppLimited: isAppLimited && !isMTUProbe)
      pacer.note(size, at: now.nanoseconds, rate: congestion.rate)
      quietInRow = 0
    } else {
      quietInRow += 1
    }
    sent.append(packet, carrying: records)
    statistics.packetsSent += 1
    statistics.bytesSent += size
  }

  /// The length of a probe for the path's longest datagram that is due: the datagram is filled up
  /// with padding to this length and elicits an acknowledgement.
  @inline(__always) package func nextMTUProbe(at now: Instant) -> Int? {
    guard roundTrip.hasSample else { return nil }
    return search.probe(at: now.nanoseconds)
  }
}
