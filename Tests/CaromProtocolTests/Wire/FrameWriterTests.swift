import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct FrameWriterTests {
  /// One frame of each kind.
  private static let kinds: [FrameValue] = [
    .message(.unreliable, 0, 0, [1, 2, 3]),
    .message(.reliableOrdered, 64, 700, [1, 2, 3]),
    .fragment(.reliableUnordered, 64, 700, of: 1 << 20, at: 900_000, [1, 2, 3]),
    .ping,
    .credit(64, .max),
    .acknowledgement([500...500], AckDelay(byte: 7)),
  ]

  @Test(arguments: kinds) func `a frame that does not fit leaves the packet unchanged`(
    frame: FrameValue
  ) throws {
    let whole = try #require(encodeFrames([frame]))
    for limit in 0..<whole.count {
      var writer = FrameWriter(limit: limit)
      let isWritten = frame.write(to: &writer)
      #expect(!isWritten)
      #expect(writer.count == 0)
    }
    #expect(encodeFrames([frame], limit: whole.count) == whole)
  }

  @Test func `a message that did not fit does not count as the previous message`() {
    var writer = FrameWriter(limit: 12)
    let frames: [FrameValue] = [
      .message(.reliableOrdered, 1, 7, [1]), .message(.reliableOrdered, 1, 8, [1, 2, 3, 4, 5, 6]),
      .message(.reliableOrdered, 1, 8, [1, 2]),
    ]
    let isWritten = frames.map { $0.write(to: &writer) }
    #expect(isWritten == [true, false, true])
    #expect(writer.bytes == [0xA1, 7, 0, 1, 1, 0xE1, 2, 1, 2])
  }

  @Test func `a fragment fits exactly into the room reported for it`() {
    let payload = [UInt8](repeating: 7, count: 70_000)
    for limit in Array(0..<160) + [1199, 1472, 16_390, 16_400, 66_000] {
      for (channel, offset) in [(UInt8(3), 0), (64, 0), (64, 100_000)] {
        var writer = FrameWriter(limit: limit)
        let room = writer.fragmentRoom(channel: channel, total: 300_000, offset: offset)
        let more = writer.appendFragment(
          .reliableOrdered, channel: channel, number: 1, total: 300_000, offset: offset,
          payload.span.extracting(0..<room + 1))
        #expect(!more)
        guard room > 0 else { continue }
        let fits = writer.appendFragment(
          .reliableOrdered, channel: channel, number: 1, total: 300_000, offset: offset,
          payload.span.extracting(0..<room))
        #expect(fits)
      }
    }
    #expect(FrameWriter(limit: 99).fragmentRoom(channel: 0, total: 10, offset: 7) == 3)
  }

  @Test func `no frame exceeds the documented overhead`() {
    let payload = [UInt8](repeating: 7, count: 20_000)
    var writer = FrameWriter(limit: 30_000)
    _ = writer.appendMessage(.reliableOrdered, channel: 64, number: .max, payload.span)
    #expect(writer.count == payload.count + FrameWriter.maximumMessageOverhead)
    #expect(
      writer.count
        == FrameWriter.messageSize(.reliableOrdered, channel: 64, length: payload.count))
    writer.begin(limit: 30_000)
    _ = writer.appendFragment(
      .reliableOrdered, channel: 64, number: .max, total: 1 << 20, offset: 1 << 19, payload.span)
    #expect(writer.count == payload.count + FrameWriter.maximumFragmentOverhead)
    writer.begin(limit: 100)
    _ = writer.appendCredit(channel: 64, limit: .max)
    #expect(writer.count == FrameWriter.maximumCredit)
  }

  @Test func `an acknowledgement contains the newest ranges that fit`() {
    var ranges = AcknowledgedRanges()
    for range in [900...950, 600...898, 300...300] as [ClosedRange<UInt64>] { ranges.append(range) }
    var counts: [Int] = []
    for limit in 0...13 {
      var writer = FrameWriter(limit: limit)
      counts.append(writer.appendAcknowledgement(ranges, ackDelay: AckDelay(byte: 0)))
      #expect(writer.count <= limit)
    }
    #expect(counts == [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3])
  }

  @Test func `a writer reuses the storage of a packet`() {
    var writer = FrameWriter(limit: 8)
    writer.appendPadding(to: 3)
    let first = writer.takeBytes()
    #expect(first == [0, 0, 0])
    #expect(writer.count == 0)
    writer.begin(limit: 2, reusing: first)
    #expect(writer.room == 2)
    _ = writer.appendPing()
    writer.appendPadding(to: 2)
    #expect(writer.bytes == [1, 0])
    writer.begin(limit: 9)
    writer.appendPadding(to: 9)
    #expect(writer.takeBytes() == [UInt8](repeating: 0, count: 9))
  }
}
