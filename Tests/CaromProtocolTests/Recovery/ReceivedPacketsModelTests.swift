import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

/// Compares `ReceivedPackets` under loss, reordering and duplication with a set of all numbers.
@Suite struct ReceivedPacketsModelTests {
  #if DEBUG
    private static let seeds = 20
  #else
    private static let seeds = 100
  #endif

  struct Mistake: Error, CustomStringConvertible { let description: String }

  private struct Model {
    var generator: SeededGenerator
    var received = ReceivedPackets()
    var inserted: Set<UInt64> = []
    /// The numbers in acknowledgements that arrived.
    var reported: Set<UInt64> = []
    var now = Instant.zero
    var writer = FrameWriter(limit: 300)

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func run(packets: UInt64, loss: Double) throws {
      var largestAcknowledged: UInt64?
      for number in 0..<packets where !generator.chance(loss) {
        now = now.advanced(byNanoseconds: Int64(generator.next() % 5_000_000))
        let late = generator.chance(0.1) ? min(number, generator.next() % 40) : 0
        try insert(number - late)
        guard received.acknowledgementDeadline.map({ $0 <= now }) ?? generator.chance(0.3) else {
          continue
        }
        let ranges = try acknowledge(after: largestAcknowledged)
        guard !generator.chance(loss) else { continue }
        for range in ranges { reported.formUnion(range) }
        largestAcknowledged = max(largestAcknowledged ?? 0, ranges.largest ?? 0)
        if generator.chance(0.5), let largest = ranges.largest {
          received.confirmAcknowledgement(upTo: largest)
        }
      }
    }

    /// Reports packets that elicit no acknowledgement themselves.
    mutating func reportRemaining() throws {
      guard received.hasUnacknowledged else { return }
      for range in try acknowledge(after: reported.max()) { reported.formUnion(range) }
    }

    private mutating func insert(_ number: UInt64) throws {
      let wasSeen = received.isSeen(number)
      let isNew = received.insert(number, isAckEliciting: generator.chance(0.8), at: now)
      guard isNew != wasSeen else { throw Mistake(description: "\(number) is both seen and new") }
      guard !isNew || !inserted.contains(number) else {
        throw Mistake(description: "\(number) is new twice")
      }
      if isNew { inserted.insert(number) }
      guard inserted.contains(number) || wasSeen else {
        throw Mistake(description: "\(number) was not accepted")
      }
    }

    /// Writes an acknowledgement and reads it as the peer would.
    private mutating func acknowledge(after largest: UInt64?) throws -> AcknowledgedRanges {
      var ranges = AcknowledgedRanges()
      if let short = received.takeShortForm(at: now) {
        ranges.setShort(largest: short.expanded(after: largest))
      } else {
        writer.begin(limit: 300)
        guard received.appendRanges(to: &writer, at: now) else {
          throw Mistake(description: "300 bytes should be enough")
        }
        var reader = FrameReader(writer.span)
        _ = try reader.next(ranges: &ranges)
      }
      guard received.acknowledgementDeadline == nil, !received.hasUnacknowledged else {
        throw Mistake(description: "some packets remain unreported")
      }
      for range in ranges {
        for number in range where !inserted.contains(number) {
          throw Mistake(description: "\(number) is reported but was never received")
        }
      }
      return ranges
    }
  }

  @Test(arguments: [0, 0.02, 0.2])
  func `no packet is accepted twice, and no missing packet is acknowledged`(loss: Double) throws {
    try Seeds(Self.seeds).check { seed in
      var model = Model(seed: seed)
      try model.run(packets: 400, loss: loss)
    }
  }

  @Test func `without loss every packet is acknowledged`() throws {
    try Seeds(Self.seeds).check { seed in
      var model = Model(seed: seed)
      try model.run(packets: 400, loss: 0)
      try model.reportRemaining()
      let silent = model.inserted.subtracting(model.reported)
      guard silent.isEmpty else { throw Mistake(description: "\(silent) were never acknowledged") }
    }
  }
}
