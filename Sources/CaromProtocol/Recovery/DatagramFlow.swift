import CaromCore

/// The sending half of a datagram path: numbers the packets, detects losses, and limits how many
/// bytes may be sent at a time.
///
/// The owner sends packets while `allowance` permits and reports each to `didSend`, passes received
/// acknowledgements to `handle`, and calls `handleTimeout` at the time that `findTimeout`
/// returns. The records of each packet are returned exactly once, as acknowledged or as lost.
package struct DatagramFlow: Sendable {
  /// The length of the IPv4 and UDP headers in bytes. They count against the congestion window.
  package static let headers = 28
  /// The number of packets after which the weight of all earlier packets in `loss` is halved.
  static let lossMemory = 1_024.0
  /// The number of round trips for which lost packets are remembered, to detect spurious losses.
  static let lostPacketMemory: Int64 = 2

  /// The maximum number of consecutive packets that elicit no acknowledgement.
  private static let maximumNonElicitingRun: Int32 = 32
  /// The maximum number of packets sent after the largest acknowledged one. This limit lets the
  /// peer recover the number in a short acknowledgement from its low 16 bits.
  private static let maximumUnacknowledged: UInt64 = 32_768

  // What every packet needs is in the middle.
  let maximumPayload: Int
  /// The number of the first packet that was sent after the path was last found to be a black hole
  /// or, if it has never been one, after the path began. The fates of probes with lower numbers say
  /// nothing about the path MTU.
  var firstOfSearch: UInt64 = 0
  var search: PathMTUSearch
  package internal(set) var statistics = FlowStatistics()
  var sent = SentPackets()
  var detector = LossDetector()
  var delivery = DeliveryRate()
  /// The earliest time at which an outstanding packet will be declared lost, in nanoseconds.
  var lossDeadline = Int64.max
  /// The number of packets sent since the last packet that elicits an acknowledgement.
  private var nonElicitingRun: Int32 = 0
  var loss = LossRate(memory: DatagramFlow.lossMemory)
  var pacer = Pacer()
  /// The time of the last search for spurious losses, in nanoseconds.
  var lastSpuriousCheck: Int64 = 0
  /// The number of the first packet that was sent on the current network path.
  var firstOfPath: UInt64 = 0
  var congestion = CongestionController()

  /// Creates a flow without packets.
  ///
  /// - Parameters:
  ///   - maximumPayload: The maximum length of a datagram that the interface sends, in bytes: 1,472
  ///     bytes over IPv4 and Ethernet, 1,452 over IPv6, less `overhead`.
  ///   - overhead: The number of bytes, at most 32, that are added to each datagram on its way.
  ///   - roundTrip: The round-trip time in nanoseconds if the handshake measured it.
  package init(
    maximumPayload: Int, overhead: UInt8 = 0, roundTrip: Int64? = nil, at now: Instant
  ) {
    self.maximumPayload = maximumPayload
    search = PathMTUSearch(maximum: maximumPayload, overhead: overhead, at: now.nanoseconds)
    if let roundTrip {
      congestion = CongestionController(
        roundTrip: RoundTripEstimator(assuming: max(roundTrip, 1)))
    }
  }

  // MARK: State

  /// The size of the largest datagram known to reach the peer, in bytes.
  package var packetSize: Int { search.size }
  /// The number of the next packet.
  package var nextNumber: UInt64 { sent.nextNumber }
  /// The largest packet number that was acknowledged; nil before the first acknowledgement.
  package var largestAcknowledged: UInt64? { detector.largestAcknowledged }
  /// The number of bytes in flight, IP and UDP headers included.
  package var inFlight: Int { sent.inFlight }
  /// The estimate of the round-trip time.
  package var roundTrip: RoundTripEstimator { congestion.roundTrip }
  /// The fraction of recent packets that were lost for any reason, from 0 to 1.
  package var lossRate: Double { loss.value }
  /// Whether the next packet should elicit an acknowledgement, because many packets before it did
  /// not. Only such an acknowledgement shows which of this side's own acknowledgements arrived.
  package var shouldElicitAck: Bool {
    nonElicitingRun >= Self.maximumNonElicitingRun && sent.outstanding.isEmpty
  }
  /// The sending rate, in bytes per second, headers included.
  package var pacingRate: Double { congestion.rate }
  /// The estimated bandwidth of the path, in bytes per second, headers included.
  package var bandwidth: Double { congestion.bandwidth }
  /// The fraction of packets that the path loses at any sending rate, from 0 to 1.
  package var randomLoss: Double { congestion.randomLoss }
  /// The queueing delay of the path, in nanoseconds.
  package var queue: Int64 { congestion.queue }
  /// The congestion window in bytes, headers included.
  package var window: Int { congestion.window }

  // MARK: Sending

  /// Returns the number of bytes that may be sent now: 0, or enough for at least one full packet.
  ///
  /// Urgent packets, which are small, may exceed the schedule by `Pacer.maximumDebt` bytes; later
  /// packets are delayed accordingly. The window does not limit them.
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
      || sent.nextNumber - (largestAcknowledged.map { $0 + 1 } ?? 0) >= Self.maximumUnacknowledged
  }

  /// Returns the time at which `allowance` with the same `urgent` becomes positive, or nil if that
  /// requires an acknowledgement or a timeout.
  package func nextSendTime(urgent: Bool = false) -> Instant? {
    guard !isFull, urgent || congestion.window > sent.inFlight else { return nil }
    let debt = urgent ? Double(Pacer.maximumDebt) * 1e9 / congestion.rate : 0
    return Instant(nanoseconds: max(pacer.next, 0) + Pacer.quantum - Int64(debt))
  }

  /// Records that the packet `nextNumber` was sent.
  ///
  /// - Parameters:
  ///   - bytes: The length of the datagram's payload.
  ///   - acknowledged: The largest number in the acknowledgement that the packet contains; nil if
  ///     it contains none. `takeConfirmed` returns it once the packet is acknowledged.
  ///   - isAppLimited: Whether the application has no more data to send.
  package mutating func didSend(
    bytes: Int, isAckEliciting: Bool, records: [FrameRecord], acknowledged: UInt64? = nil,
    isMTUProbe: Bool = false, isAppLimited: Bool, at now: Instant
  ) {
    let size = bytes + Self.headers
    var packet = SentPacket(sent: now.nanoseconds, bytes: size, traits: [])
    if isAckEliciting { packet.traits.insert(.isAckEliciting) }
    if congestion.isCalm { packet.traits.insert(.isCalm) }
    if isMTUProbe {
      packet.traits.insert(.isMTUProbe)
      search.recordProbeSent()
    }
    if isAckEliciting {
      delivery.stamp(
        &packet, inFlight: sent.inFlight, isAppLimited: isAppLimited && !isMTUProbe)
      pacer.recordSent(size, at: now.nanoseconds, rate: congestion.rate)
      nonElicitingRun = 0
      if let acknowledged { packet.acknowledged = acknowledged }
    } else {
      nonElicitingRun += 1
    }
    sent.append(packet, carrying: records)
    statistics.packetsSent += 1
    statistics.bytesSent += size
  }

  /// Returns the largest number in those acknowledgements of this side that the peer has received
  /// since the last call; nil if there are none.
  @inline(__always) mutating func takeConfirmed() -> UInt64? { sent.takeConfirmed() }

  /// Returns the length of the path MTU probe that is due, or nil if none is. The probe is an
  /// ack-eliciting datagram padded to this length.
  @inline(__always) package func nextMTUProbe(at now: Instant) -> Int? {
    guard roundTrip.hasSample else { return nil }
    return search.probe(at: now.nanoseconds)
  }
}

/// The counters of a datagram flow since the flow began.
package struct FlowStatistics: Hashable, Sendable {
  package internal(set) var packetsLost = 0
  /// The number of packets that were declared lost and acknowledged afterwards.
  package internal(set) var spuriousLosses = 0
  /// The number of probes sent because an acknowledgement was overdue.
  package internal(set) var tailProbes = 0
  /// The number of times that all packets in flight were declared lost because no probe was
  /// acknowledged.
  package internal(set) var stalls = 0
  /// The number of times that packets longer than 1,200 bytes stopped arriving.
  package internal(set) var blackHoles = 0
  package internal(set) var packetsAcknowledged = 0
  /// The number of bytes in all acknowledged packets, IP and UDP headers included.
  package internal(set) var bytesAcknowledged = 0
  package internal(set) var packetsSent = 0
  /// The number of bytes in all sent packets, IP and UDP headers included.
  package internal(set) var bytesSent = 0

  package init() {}
}
