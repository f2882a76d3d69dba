import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

/// Packets that are lost, late or doubled, against a set that remembers all of them.
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
    var came: Set<UInt64> = []
    /// What an acknowledgement that arrived has told.
    var told: Set<UInt64> = []
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
        for range in ranges { told.formUnion(range) }
        largestAcknowledged = max(largestAcknowledged ?? 0, ranges.largest ?? 0)
        if generator.chance(0.5), let largest = ranges.largest {
          received.acknowledgementWasAcknowledged(upTo: largest)
        }
      }
    }

    /// Packets that want no acknowledgement wait for the next one that goes out.
    mutating func tellTheRest() throws {
      guard received.hasNews else { return }
      for range in try acknowledge(after: told.max()) { told.formUnion(range) }
    }

    private mutating func insert(_ number: UInt64) throws {
      let wasSeen = received.isSeen(number)
      let isNew = received.insert(number, isAckEliciting: generator.chance(0.8), at: now)
      guard isNew != wasSeen else { throw Mistake(description: "\(number) is seen and new") }
      guard !isNew || !came.contains(number) else {
        throw Mistake(description: "\(number) is new twice")
      }
      if isNew { came.insert(number) }
      guard came.contains(number) || wasSeen else {
        throw Mistake(description: "\(number) was not taken")
      }
    }

    /// What goes out now, as the other side would read it.
    private mutating func acknowledge(after largest: UInt64?) throws -> AcknowledgedRanges {
      var ranges = AcknowledgedRanges()
      if let short = received.takeShortForm(at: now) {
        ranges.setShort(largest: short.expanded(after: largest))
      } else {
        writer.begin(limit: 300)
        guard received.appendRanges(to: &writer, at: now) else {
          throw Mistake(description: "300 bytes are enough")
        }
        var reader = FrameReader(writer.span)
        _ = try reader.next(ranges: &ranges)
      }
      guard received.acknowledgementDeadline == nil, !received.hasNews else {
        throw Mistake(description: "something is left to tell")
      }
      for range in ranges {
        for number in range where !came.contains(number) {
          throw Mistake(description: "\(number) is told and never came")
        }
      }
      return ranges
    }
  }

  @Test(arguments: [0, 0.02, 0.2])
  func `no packet is taken twice, and none is told that did not come`(loss: Double) throws {
    try Seeds(Self.seeds).check { seed in
      var model = Model(seed: seed)
      try model.run(packets: 400, loss: loss)
    }
  }

  @Test func `without loss everything is told`() throws {
    try Seeds(Self.seeds).check { seed in
      var model = Model(seed: seed)
      try model.run(packets: 400, loss: 0)
      try model.tellTheRest()
      let silent = model.came.subtracting(model.told)
      guard silent.isEmpty else { throw Mistake(description: "\(silent) were never told") }
    }
  }
}
