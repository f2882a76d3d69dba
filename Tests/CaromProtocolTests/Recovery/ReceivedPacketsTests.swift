import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct ReceivedPacketsTests {
  /// A state that received `numbers` in this order at `now`.
  private func makeReceived(
    _ numbers: some Sequence<UInt64>, isAckEliciting: Bool = true, at now: Instant = .zero
  ) -> ReceivedPackets {
    var received = ReceivedPackets()
    for number in numbers { _ = received.insert(number, isAckEliciting: isAckEliciting, at: now) }
    return received
  }

  /// The ranges of an acknowledgement written into a packet of `limit` bytes.
  private func writeRanges(
    _ received: inout ReceivedPackets, limit: Int = 1200, at now: Instant = .zero
  ) throws -> [ClosedRange<UInt64>] {
    var writer = FrameWriter(limit: limit)
    guard received.appendRanges(to: &writer, at: now) else { return [] }
    guard case .acknowledgement(let ranges, _)? = try decodeFrames(writer.bytes).first else {
      return []
    }
    return ranges
  }

  @Test func `duplicates are detected`() {
    var received = makeReceived([0, 1, 5, 3])
    for number in [0, 1, 5, 3] as [UInt64] {
      let isNew = received.insert(number, isAckEliciting: true, at: .zero)
      #expect(!isNew)
      #expect(received.isSeen(number))
    }
    #expect(!received.isSeen(2))
    #expect(received.largest == 5)
  }

  @Test func `numbers below the 64 remembered ranges count as seen`() {
    var received = makeReceived((0...64).map { 2 * $0 })
    #expect(received.ranges.count == 64)
    #expect(received.isSeen(0))
    let late = received.insert(0, isAckEliciting: true, at: .zero)
    #expect(!late)
    let between = received.insert(1, isAckEliciting: true, at: .zero)
    #expect(between, "number 1 is above all evicted numbers")
    let again = received.insert(1, isAckEliciting: true, at: .zero)
    #expect(!again)
  }

  @Test func `a late packet beyond 64 ranges is accepted once, and not reported`() throws {
    let numbers = (0..<64).map { UInt64(10 + 2 * $0) }
    var received = makeReceived(numbers)
    _ = received.appendRanges(into: 1200, at: .zero)
    let isNew = [5, 5, 4].map { received.insert($0, isAckEliciting: true, at: .zero) }
    #expect(isNew == [true, false, false] && received.isSeen(0) && !received.isSeen(6))
    let ranges = try writeRanges(&received)
    #expect(ranges == numbers.reversed().map { $0...$0 })
    #expect(!received.hasUnacknowledged)
  }

  @Test func `the acknowledgement of one packet waits 20 ms for a second`() {
    let start = Instant(nanoseconds: 7)
    var received = makeReceived([0], at: start)
    #expect(received.acknowledgementDeadline == start + .milliseconds(20))
    let later = start + .milliseconds(5)
    _ = received.insert(1, isAckEliciting: true, at: later)
    #expect(received.acknowledgementDeadline == later)
    _ = received.insert(2, isAckEliciting: true, at: later + .milliseconds(1))
    #expect(received.acknowledgementDeadline == later, "the deadline does not move back")
  }

  @Test func `while messages are sent the third packet is acknowledged at once`() {
    var received = makeReceived([])
    received.recordMessagesSent(at: .zero)
    let times = [1, 18, 19].map { Instant.zero + .milliseconds($0) }
    let deadlines = times.enumerated().map { number, time in
      _ = received.insert(UInt64(number), isAckEliciting: true, at: time)
      return received.acknowledgementDeadline
    }
    #expect(deadlines == [times[0] + .milliseconds(20), times[0] + .milliseconds(20), times[2]])
    _ = received.takeShortForm(at: times[2])
    for number in 3...4 { _ = received.insert(UInt64(number), isAckEliciting: true, at: times[2]) }
    #expect(received.acknowledgementDeadline == times[2] + .milliseconds(20))
    let silent = Instant.zero + .milliseconds(25)
    _ = received.takeShortForm(at: silent)
    for number in 5...6 { _ = received.insert(UInt64(number), isAckEliciting: true, at: silent) }
    #expect(received.acknowledgementDeadline == silent)
  }

  @Test(arguments: [(24_999_999, false), (25_000_000, true)])
  func `the second packet is acknowledged at once unless messages were sent in the last 25 ms`(
    nanoseconds: Int64, isImmediate: Bool
  ) {
    var received = makeReceived([])
    received.recordMessagesSent(at: .zero)
    let now = Instant(nanoseconds: nanoseconds)
    for number in 0...1 { _ = received.insert(UInt64(number), isAckEliciting: true, at: now) }
    #expect(received.acknowledgementDeadline == (isImmediate ? now : now + .milliseconds(20)))
  }

  @Test func `a gap and a late packet are acknowledged at once`() {
    var received = makeReceived([0, 1])
    _ = received.takeShortForm(at: .zero)
    #expect(received.acknowledgementDeadline == nil)
    let now = Instant.zero + .milliseconds(3)
    _ = received.insert(3, isAckEliciting: true, at: now)
    #expect(received.acknowledgementDeadline == now)
    _ = received.appendRanges(into: 100, at: now)
    _ = received.insert(2, isAckEliciting: true, at: now)
    #expect(received.acknowledgementDeadline == now)
  }

  @Test func `packets that elicit no acknowledgement are reported with others only`() {
    var received = makeReceived(0...9, isAckEliciting: false)
    #expect(received.acknowledgementDeadline == nil)
    #expect(received.hasUnacknowledged)
    let short = received.takeShortForm(at: .zero)
    #expect(short?.largest == 9)
    #expect(!received.hasUnacknowledged)
  }

  @Test func `the short form requires 64 packets without a gap`() {
    var received = makeReceived(Array(0...9) + Array(11...73))
    #expect(received.takeShortForm(at: .zero) == nil)
    _ = received.appendRanges(into: 100, at: .zero)
    _ = received.insert(74, isAckEliciting: true, at: .zero)
    let short = received.takeShortForm(at: .zero)
    #expect(short?.largest == 74)
  }

  @Test func `the short form is refused while older packets are unreported`() throws {
    var received = makeReceived(0...199)
    #expect(received.takeShortForm(at: .zero) == nil, "136 packets are unreported")
    #expect(try writeRanges(&received) == [0...199])
    _ = received.insert(200, isAckEliciting: true, at: .zero)
    #expect(received.takeShortForm(at: .zero) != nil)
    received = makeReceived(Array(0...9) + Array(11...199))
    #expect(try writeRanges(&received) == [11...199, 0...9])
    _ = received.insert(10, isAckEliciting: true, at: .zero)
    #expect(received.takeShortForm(at: .zero) == nil, "number 10 is unreported")
  }

  @Test func `ranges that the peer knows are not repeated`() throws {
    var received = makeReceived([0, 1, 5, 6, 10, 20])
    #expect(try writeRanges(&received) == [20...20, 10...10, 5...6, 0...1])
    received.confirmAcknowledgement(upTo: 10)
    _ = received.insert(22, isAckEliciting: true, at: .zero)
    #expect(try writeRanges(&received) == [22...22, 20...20])
    _ = received.insert(8, isAckEliciting: true, at: .zero)
    #expect(try writeRanges(&received) == [22...22, 20...20, 10...10, 8...8])
  }

  @Test func `at most 32 unconfirmed ranges are repeated`() throws {
    var received = makeReceived((0..<50).map { 2 * $0 })
    #expect(try writeRanges(&received).count == 50, "all ranges are new")
    _ = received.insert(100, isAckEliciting: true, at: .zero)
    #expect(try writeRanges(&received).count == 32)
  }

  @Test func `ranges that did not fit are reported later`() throws {
    var received = makeReceived([0, 2, 4, 6])
    #expect(try writeRanges(&received, limit: 7) == [6...6, 4...4])
    #expect(received.hasUnacknowledged)
    #expect(try writeRanges(&received) == [6...6, 4...4, 2...2, 0...0])
    #expect(!received.hasUnacknowledged)
    #expect(try writeRanges(&received, limit: 4) == [])
  }

  @Test func `after the oldest range is evicted the short form can be used again`() throws {
    var received = makeReceived((0...64).map { 2 * $0 })
    #expect(try writeRanges(&received).count == 64)
    #expect(!received.hasUnacknowledged)
    for number in 129...191 as ClosedRange<UInt64> {
      _ = received.insert(number, isAckEliciting: true, at: .zero)
    }
    #expect(received.takeShortForm(at: .zero)?.largest == 191)
  }

  @Test func `a packet older than 64 ranges is accepted but delays no acknowledgement`() throws {
    var received = makeReceived((1...64).map { 2 * $0 })
    #expect(try writeRanges(&received).count == 64)
    let isNew = received.insert(0, isAckEliciting: true, at: .zero)
    #expect(isNew && received.isSeen(0) && received.acknowledgementDeadline == .zero)
    #expect(try writeRanges(&received).count == 64)
    #expect(!received.hasUnacknowledged && received.acknowledgementDeadline == nil)
  }

  @Test func `the acknowledgement delay counts from the largest number`() {
    var received = makeReceived([0, 2])
    let now = Instant.zero + .milliseconds(2)
    _ = received.insert(1, isAckEliciting: true, at: now)
    #expect(received.ackDelay(at: now) == AckDelay(nanoseconds: 2_000_000))
    _ = received.insert(3, isAckEliciting: true, at: now)
    #expect(received.ackDelay(at: now) == AckDelay(nanoseconds: 0))
  }
}

extension ReceivedPackets {
  /// Appends the ranges to a discarded packet of `limit` bytes.
  fileprivate mutating func appendRanges(into limit: Int, at now: Instant) -> Bool {
    var writer = FrameWriter(limit: limit)
    return appendRanges(to: &writer, at: now)
  }
}
