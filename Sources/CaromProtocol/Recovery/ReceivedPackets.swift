import CaromCore

/// The numbers of the packets that came on a path: which are doubles, and what is to be
/// acknowledged when.
package struct ReceivedPackets: Sendable {
  /// How many packets that elicit an acknowledgement get one at once.
  private static let acknowledgeAfter = 2
  /// As many where this side is about to send something: the acknowledgement rides along.
  private static let acknowledgeRidingAfter = 3
  /// How long one such packet waits for the others, nanoseconds: 20 ms.
  private static let longestWait: Int64 = 20_000_000
  /// How long after a packet with messages the next is expected, nanoseconds: 25 ms, more than a
  /// tick at 60 Hz.
  private static let longestTick: Int64 = 25_000_000
  /// How many ranges are told again unless the other side confirmed them.
  private static let repeatedRanges = 32

  /// What came, as far as it is remembered: 64 ranges.
  package private(set) var ranges = AcknowledgedRanges()
  /// Numbers below are too old to be told apart: they count as seen.
  private var floor: UInt64 = 0
  /// The other side knows of everything below.
  private var confirmed: UInt64 = 0
  /// The lowest number that came since the last acknowledgement was written.
  private var lowestUntold: UInt64 = .max
  private var untoldEliciting = 0
  /// Until when this side is expected to send messages.
  private var ridesUntil = Instant.zero
  private var largestArrival = Instant.zero

  /// When an acknowledgement is to leave at the latest; `nil` if none is wanted.
  package private(set) var acknowledgementDeadline: Instant?

  package init() {}

  /// The largest number that came.
  package var largest: UInt64? { ranges.largest }

  /// Whether something came that no acknowledgement has told of.
  package var hasNews: Bool { lowestUntold != .max }

  /// Whether the number came already or is too old to say.
  package func isSeen(_ number: UInt64) -> Bool { number < floor || ranges.contains(number) }

  /// Notes that a packet came; `false` if it came already or is too old to say.
  package mutating func insert(_ number: UInt64, isAckEliciting: Bool, at now: Instant) -> Bool {
    guard number >= floor else { return false }
    let next = ranges.largest.map { $0 &+ 1 } ?? number
    var forgotten: ClosedRange<UInt64>?
    guard ranges.insert(number, forgotten: &forgotten) else { return false }
    if let forgotten { floor = forgotten.upperBound + 1 }
    if number >= next { largestArrival = now }
    lowestUntold = min(lowestUntold, number)
    confirmed = min(confirmed, number)
    if isAckEliciting { want(atOnce: number != next, at: now) }
    return true
  }

  private mutating func want(atOnce: Bool, at now: Instant) {
    untoldEliciting += 1
    let most = now < ridesUntil ? Self.acknowledgeRidingAfter : Self.acknowledgeAfter
    if atOnce || untoldEliciting >= most {
      acknowledgementDeadline = min(acknowledgementDeadline ?? now, now)
    } else if acknowledgementDeadline == nil {
      acknowledgementDeadline = now.advanced(byNanoseconds: Self.longestWait)
    }
  }

  /// This side sent messages: more may follow, and an acknowledgement may wait for them.
  package mutating func noteMessagesSent(at now: Instant) {
    ridesUntil = now.advanced(byNanoseconds: Self.longestTick)
  }

  /// The acknowledgement for a header, if the short form can say all that is new. What it says
  /// counts as told.
  package mutating func takeShortForm(at now: Instant) -> ShortAcknowledgement? {
    guard let largest else { return nil }
    let lowest = largest - min(largest, AcknowledgedRanges.shortSpan - 1)
    guard ranges[0].lowerBound <= lowest, lowestUntold >= lowest else { return nil }
    markTold(from: 0)
    return ShortAcknowledgement(
      largest: UInt16(truncatingIfNeeded: largest), ackDelay: ackDelay(at: now))
  }

  /// Appends the ranges that the other side may not know of, as far as there is room; `false` if
  /// nothing could be told. What was told counts so.
  package mutating func appendRanges(to writer: inout FrameWriter, at now: Instant) -> Bool {
    var wanted = 0
    while wanted < ranges.count,
      ranges[wanted].upperBound >= lowestUntold
        || ranges[wanted].upperBound >= confirmed && wanted < Self.repeatedRanges
    {
      wanted += 1
    }
    let told = writer.appendAcknowledgement(
      ranges, count: max(1, wanted), ackDelay: ackDelay(at: now))
    guard told > 0 else { return false }
    markTold(from: ranges[told - 1].lowerBound)
    return true
  }

  /// How long ago the largest number came.
  package func ackDelay(at now: Instant) -> AckDelay {
    AckDelay(nanoseconds: now.nanoseconds - largestArrival.nanoseconds)
  }

  /// The other side got an acknowledgement whose largest number was `largest`: what is older need
  /// not be told again.
  package mutating func acknowledgementWasAcknowledged(upTo largest: UInt64) {
    confirmed = max(confirmed, largest + 1)
  }

  private mutating func markTold(from lowest: UInt64) {
    if lowestUntold >= lowest { lowestUntold = .max }
    untoldEliciting = 0
    acknowledgementDeadline = nil
  }
}
