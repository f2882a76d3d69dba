import CaromCore

/// Tracks the packet numbers received on a path, detects duplicates, and schedules
/// acknowledgements.
package struct ReceivedPackets: Sendable {
  /// The number of unacknowledged ack-eliciting packets after which an acknowledgement is sent
  /// without delay.
  private static let acknowledgementThreshold = 2
  /// The value that replaces `acknowledgementThreshold` while this side is expected to send
  /// messages. The acknowledgement can then travel in a packet with them.
  private static let piggybackThreshold = 3
  /// The maximum delay of an acknowledgement, in nanoseconds: 20 ms.
  private static let maximumDelay: Int64 = 20_000_000
  /// The maximum expected interval between packets with messages, in nanoseconds: 25 ms, which is
  /// longer than a tick at 60 Hz.
  private static let maximumTick: Int64 = 25_000_000
  /// The maximum number of ranges that are repeated until the peer is known to have received them.
  private static let repeatedRanges = 32

  /// The ranges of received numbers that are remembered, at most 64.
  package private(set) var ranges = AcknowledgedRanges()
  /// The lowest number that is remembered. Lower numbers are too old and count as received.
  private var floor: UInt64 = 0
  /// The packet number below which the peer knows what was received, so that acknowledgements need
  /// not repeat it.
  private var confirmed: UInt64 = 0
  /// The lowest number received since the last acknowledgement was written.
  private var lowestUnacknowledged: UInt64 = .max
  /// The number of ack-eliciting packets received since the last acknowledgement was written.
  private var unacknowledgedCount = 0
  /// The time before which this side is expected to send more messages, with which an
  /// acknowledgement can be sent.
  private var sendingUntil = Instant.zero
  /// The arrival time of the packet with the largest number.
  private var largestArrival = Instant.zero

  /// The latest time to send an acknowledgement, or nil if none is needed.
  package private(set) var acknowledgementDeadline: Instant?

  package init() {}

  /// The largest number received; nil before the first packet.
  package var largest: UInt64? { ranges.largest }

  /// Whether any received packet has not been reported in an acknowledgement yet.
  package var hasUnacknowledged: Bool { lowestUnacknowledged != .max }

  /// Returns whether the packet `number` was received before or is too old to be remembered.
  @inline(__always)
  package func isSeen(_ number: UInt64) -> Bool { number < floor || ranges.contains(number) }

  /// Records a received packet. Returns false if the packet is a duplicate or too old to be
  /// remembered.
  package mutating func insert(
    _ number: UInt64, isAckEliciting: Bool, at now: Instant
  ) -> Bool {
    guard number >= floor else { return false }
    let next = ranges.largest.map { $0 &+ 1 } ?? number
    var evicted: ClosedRange<UInt64>?
    guard ranges.insert(number, evicted: &evicted) else { return false }
    if let evicted { floor = evicted.upperBound + 1 }
    if number >= next { largestArrival = now }
    lowestUnacknowledged = min(lowestUnacknowledged, number)
    if evicted != nil {
      // Evicted numbers can no longer be reported, so no acknowledgement is due for them.
      lowestUnacknowledged = max(lowestUnacknowledged, ranges[ranges.count - 1].lowerBound)
    }
    confirmed = min(confirmed, number)
    if isAckEliciting { scheduleAcknowledgement(isImmediate: number != next, at: now) }
    return true
  }

  @inline(__always)
  private mutating func scheduleAcknowledgement(isImmediate: Bool, at now: Instant) {
    unacknowledgedCount += 1
    let limit = now < sendingUntil ? Self.piggybackThreshold : Self.acknowledgementThreshold
    if isImmediate || unacknowledgedCount >= limit {
      acknowledgementDeadline = min(acknowledgementDeadline ?? now, now)
    } else if acknowledgementDeadline == nil {
      acknowledgementDeadline = now.advanced(byNanoseconds: Self.maximumDelay)
    }
  }

  /// Records that this side sent messages. More messages are likely to follow, so an
  /// acknowledgement may wait to be sent in the same packet.
  package mutating func recordMessagesSent(at now: Instant) {
    sendingUntil = now.advanced(byNanoseconds: Self.maximumTick)
  }

  /// Returns the short acknowledgement for a packet header and marks it as written. Returns nil if
  /// the short form cannot report every packet that was received since the last acknowledgement.
  @inline(__always)
  package mutating func takeShortForm(at now: Instant) -> ShortAcknowledgement? {
    guard let largest else { return nil }
    let lowest = largest - min(largest, AcknowledgedRanges.shortSpan - 1)
    guard ranges[0].lowerBound <= lowest, lowestUnacknowledged >= lowest else { return nil }
    markAcknowledged(from: 0)
    return ShortAcknowledgement(
      largest: UInt16(truncatingIfNeeded: largest), ackDelay: ackDelay(at: now))
  }

  /// Appends an acknowledgement of the ranges that the peer may not know about, as many as fit, and
  /// marks those ranges as written. Returns false if none fits.
  package mutating func appendRanges(to writer: inout FrameWriter, at now: Instant) -> Bool {
    var wanted = 0
    while wanted < ranges.count,
      ranges[wanted].upperBound >= lowestUnacknowledged
        || ranges[wanted].upperBound >= confirmed && wanted < Self.repeatedRanges
    {
      wanted += 1
    }
    let written = writer.appendAcknowledgement(
      ranges, count: max(1, wanted), ackDelay: ackDelay(at: now))
    guard written > 0 else { return false }
    markAcknowledged(from: ranges[written - 1].lowerBound)
    return true
  }

  /// Returns the time since the packet with the largest number arrived, as an acknowledgement
  /// delay.
  @inline(__always) package func ackDelay(at now: Instant) -> AckDelay {
    AckDelay(nanoseconds: now.nanoseconds - largestArrival.nanoseconds)
  }

  /// Records that the peer received an acknowledgement whose largest number is `largest`. Ranges of
  /// lower numbers need not be repeated.
  package mutating func confirmAcknowledgement(upTo largest: UInt64) {
    confirmed = max(confirmed, largest + 1)
  }

  private mutating func markAcknowledged(from lowest: UInt64) {
    if lowestUnacknowledged >= lowest { lowestUnacknowledged = .max }
    unacknowledgedCount = 0
    acknowledgementDeadline = nil
  }
}
