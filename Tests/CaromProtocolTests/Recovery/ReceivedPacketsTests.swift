import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct ReceivedPacketsTests {
  /// What came in order at `now`.
  private func makeReceived(
    _ numbers: some Sequence<UInt64>, isAckEliciting: Bool = true, at now: Instant = .zero
  ) -> ReceivedPackets {
    var received = ReceivedPackets()
    for number in numbers { _ = received.insert(number, isAckEliciting: isAckEliciting, at: now) }
    return received
  }

  /// The ranges that an acknowledgement in a packet of `limit` bytes would tell.
  private func tell(
    _ received: inout ReceivedPackets, limit: Int = 1200, at now: Instant = .zero
  ) throws -> [ClosedRange<UInt64>] {
    var writer = FrameWriter(limit: limit)
    guard received.appendRanges(to: &writer, at: now) else { return [] }
    guard case .acknowledgement(let ranges, _)? = try decodeFrames(writer.bytes).first else {
      return []
    }
    return ranges
  }

  @Test func `what came twice is found`() {
    var received = makeReceived([0, 1, 5, 3])
    for number in [0, 1, 5, 3] as [UInt64] {
      let isNew = received.insert(number, isAckEliciting: true, at: .zero)
      #expect(!isNew)
      #expect(received.isSeen(number))
    }
    #expect(!received.isSeen(2))
    #expect(received.largest == 5)
  }

  @Test func `numbers below 64 ranges count as seen`() {
    var received = makeReceived((0...64).map { 2 * $0 })
    #expect(received.ranges.count == 64)
    #expect(received.isSeen(0))
    let late = received.insert(0, isAckEliciting: true, at: .zero)
    #expect(!late)
    let between = received.insert(1, isAckEliciting: true, at: .zero)
    #expect(between, "it is above all that was forgotten")
    let again = received.insert(1, isAckEliciting: true, at: .zero)
    #expect(!again)
  }

  @Test func `one packet waits 20 ms for the second`() {
    let start = Instant(nanoseconds: 7)
    var received = makeReceived([0], at: start)
    #expect(received.acknowledgementDeadline == start + .milliseconds(20))
    let later = start + .milliseconds(5)
    _ = received.insert(1, isAckEliciting: true, at: later)
    #expect(received.acknowledgementDeadline == later)
    _ = received.insert(2, isAckEliciting: true, at: later + .milliseconds(1))
    #expect(received.acknowledgementDeadline == later, "the deadline does not move away")
  }

  @Test func `where messages leave anyway the third packet is told at once`() {
    var received = makeReceived([])
    received.noteMessagesSent(at: .zero)
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

  @Test func `a gap and a late packet are told at once`() {
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

  @Test func `what does not ask is told along, but not for its own sake`() {
    var received = makeReceived(0...9, isAckEliciting: false)
    #expect(received.acknowledgementDeadline == nil)
    #expect(received.hasNews)
    let short = received.takeShortForm(at: .zero)
    #expect(short?.largest == 9)
    #expect(!received.hasNews)
  }

  @Test func `the short form needs 64 packets without a gap`() {
    var received = makeReceived(Array(0...9) + Array(11...73))
    #expect(received.takeShortForm(at: .zero) == nil)
    _ = received.appendRanges(into: 100, at: .zero)
    _ = received.insert(74, isAckEliciting: true, at: .zero)
    let short = received.takeShortForm(at: .zero)
    #expect(short?.largest == 74)
  }

  @Test func `the short form is not enough for what it does not speak of`() throws {
    var received = makeReceived(0...199)
    #expect(received.takeShortForm(at: .zero) == nil, "136 packets were never told")
    #expect(try tell(&received) == [0...199])
    _ = received.insert(200, isAckEliciting: true, at: .zero)
    #expect(received.takeShortForm(at: .zero) != nil)
    received = makeReceived(Array(0...9) + Array(11...199))
    #expect(try tell(&received) == [11...199, 0...9])
    _ = received.insert(10, isAckEliciting: true, at: .zero)
    #expect(received.takeShortForm(at: .zero) == nil, "number 10 is news")
  }

  @Test func `what is known to be known is not told again`() throws {
    var received = makeReceived([0, 1, 5, 6, 10, 20])
    #expect(try tell(&received) == [20...20, 10...10, 5...6, 0...1])
    received.acknowledgementWasAcknowledged(upTo: 10)
    _ = received.insert(22, isAckEliciting: true, at: .zero)
    #expect(try tell(&received) == [22...22, 20...20])
    _ = received.insert(8, isAckEliciting: true, at: .zero)
    #expect(try tell(&received) == [22...22, 20...20, 10...10, 8...8])
  }

  @Test func `ranges that nobody confirms are told 32 at a time`() throws {
    var received = makeReceived((0..<50).map { 2 * $0 })
    #expect(try tell(&received).count == 50, "all of it is news")
    _ = received.insert(100, isAckEliciting: true, at: .zero)
    #expect(try tell(&received).count == 32)
  }

  @Test func `what found no room stays to be told`() throws {
    var received = makeReceived([0, 2, 4, 6])
    #expect(try tell(&received, limit: 7) == [6...6, 4...4])
    #expect(received.hasNews)
    #expect(try tell(&received) == [6...6, 4...4, 2...2, 0...0])
    #expect(!received.hasNews)
    #expect(try tell(&received, limit: 4) == [])
  }

  @Test func `the hold time counts from the largest`() {
    var received = makeReceived([0, 2])
    let now = Instant.zero + .milliseconds(2)
    _ = received.insert(1, isAckEliciting: true, at: now)
    #expect(received.ackDelay(at: now) == AckDelay(nanoseconds: 2_000_000))
    _ = received.insert(3, isAckEliciting: true, at: now)
    #expect(received.ackDelay(at: now) == AckDelay(nanoseconds: 0))
  }
}

extension ReceivedPackets {
  /// Tells the ranges to nobody.
  fileprivate mutating func appendRanges(into limit: Int, at now: Instant) -> Bool {
    var writer = FrameWriter(limit: limit)
    return appendRanges(to: &writer, at: now)
  }
}
