import CaromCore
import Testing

@testable import CaromProtocol

/// When acknowledgements are due and in which form (WireFormat, "Data packets").
@Suite struct AcknowledgementTests {
  private func insert(
    _ numbers: some Sequence<UInt64>, isAckEliciting: Bool = true, at now: Instant = .zero,
    into received: inout ReceivedPackets
  ) {
    for number in numbers { _ = received.insert(number, isAckEliciting: isAckEliciting, at: now) }
  }

  /// The ranges of the next acknowledgement; empty if none fits into `limit` bytes.
  private func write(_ received: inout ReceivedPackets, limit: Int = 1_200) throws
    -> [ClosedRange<UInt64>]
  {
    var writer = FrameWriter(limit: limit)
    guard received.appendRanges(to: &writer, at: .zero),
      case .acknowledgement(let ranges, _)? = try decodeFrames(writer.bytes).first
    else { return [] }
    return ranges
  }

  @Test func `the short form reports 64 packets, and not 63 after a gap`() throws {
    var received = ReceivedPackets()
    #expect(received.takeShortForm(at: .zero) == nil && received.largest == nil)
    insert(2...64, into: &received)
    _ = try write(&received)
    #expect(received.takeShortForm(at: .zero) == nil, "number 1 is missing")
    insert([65], into: &received)
    #expect(received.takeShortForm(at: .zero)?.largest == 65)
    // All packets since the first one, if there are fewer.
    var first = ReceivedPackets()
    insert(0...5, into: &first)
    #expect(first.takeShortForm(at: .zero)?.largest == 5)
  }

  @Test func `the short form reports packets that are at most 63 numbers old`() throws {
    for (oldest, isShort) in [(36, false), (37, true)] as [(UInt64, Bool)] {
      var received = ReceivedPackets()
      insert(0..<oldest, into: &received)
      _ = try write(&received)
      insert(oldest...100, into: &received)
      #expect((received.takeShortForm(at: .zero) != nil) == isShort)
      #expect(received.hasUnacknowledged != isShort)
    }
  }

  @Test func `the short form carries the low 16 bits and the delay of the largest number`() {
    var received = ReceivedPackets()
    insert(70_000...70_063, at: .zero + .milliseconds(1), into: &received)
    let short = received.takeShortForm(at: .zero + .milliseconds(8))
    #expect(short?.largest == 4_527)
    #expect(short?.ackDelay == AckDelay(nanoseconds: 7_000_000))
  }

  @Test func `only packets that elicit an acknowledgement make one due`() {
    var received = ReceivedPackets()
    let start = Instant.zero
    insert([0], at: start, into: &received)
    // Neither other packets nor their gaps nor duplicates hasten the acknowledgement.
    insert([1, 2, 5], isAckEliciting: false, at: start + .milliseconds(1), into: &received)
    insert([0, 1, 5], at: start + .milliseconds(2), into: &received)
    #expect(received.acknowledgementDeadline == start + .milliseconds(20))
    insert([6], at: start + .milliseconds(3), into: &received)
    #expect(received.acknowledgementDeadline == start + .milliseconds(3))
  }

  @Test func `an acknowledgement that was written counts all packets before it`() throws {
    var received = ReceivedPackets()
    let start = Instant.zero + .milliseconds(1)
    for round in 0..<3 as Range<UInt64> {
      let now = start + .milliseconds(Int(round))
      insert([2 * round], at: now, into: &received)
      #expect(received.acknowledgementDeadline == now + .milliseconds(20))
      if round == 1 { _ = try write(&received) } else { _ = received.takeShortForm(at: now) }
      #expect(received.acknowledgementDeadline == nil && !received.hasUnacknowledged)
      insert([2 * round], at: now, into: &received)
      #expect(received.acknowledgementDeadline == nil && !received.hasUnacknowledged)
      insert([2 * round + 1], isAckEliciting: false, at: now, into: &received)
      #expect(received.acknowledgementDeadline == nil && received.hasUnacknowledged)
    }
  }

  @Test func `an acknowledgement that does not fit stays due`() throws {
    var received = ReceivedPackets()
    #expect(try write(&received) == [])
    insert([0, 2], into: &received)
    #expect(try write(&received, limit: 2) == [])
    #expect(received.acknowledgementDeadline == .zero && received.hasUnacknowledged)
    #expect(try write(&received) == [2...2, 0...0])
  }

  @Test func `a confirmation never takes back a later one`() throws {
    var received = ReceivedPackets()
    insert([0, 2, 4, 6], into: &received)
    #expect(try write(&received).count == 4)
    for largest in [4, 0] as [UInt64] { received.confirmAcknowledgement(upTo: largest) }
    insert([8], into: &received)
    #expect(try write(&received) == [8...8, 6...6])
    received.confirmAcknowledgement(upTo: 8)
    #expect(try write(&received) == [8...8], "the largest number is always reported")
  }
}
