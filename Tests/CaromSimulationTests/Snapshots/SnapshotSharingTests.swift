import CaromCore
import Testing

@testable import CaromSimulation

/// What a sender and a receiver remember of each other's snapshots.
@Suite struct SnapshotSharingTests {
  private static let schema = EntitySchema(.integer(0...1_000), .integer(0...1_000))
  private var sender = SnapshotSender(schema: schema)
  private var receiver = SnapshotReceiver(schema: schema)

  /// The entities 0, 1, … with these values.
  private func table(_ values: [Int64]) -> EntityTable {
    makeTable(Self.schema, values.enumerated().map { (UInt32($0), [$1, $1]) })
  }

  /// Encodes a snapshot of the selected entities.
  private mutating func encode(
    _ values: [Int64], at tick: UInt64, selecting selection: [Bool]? = nil
  ) -> [UInt8] {
    sender.plan(table(values), at: Tick(tick), selecting: selection)
    sender.writePlanned()
    sender.commit()
    return sender.bytes
  }

  private var values: [Int64] {
    (0..<receiver.entities.count).map { receiver.entities.value(0, at: $0) }
  }

  private mutating func share(_ values: [Int64], at tick: UInt64) throws {
    try receiver.receive(encode(values, at: tick).span)
    sender.acknowledge(receiver.acknowledgement)
  }

  @Test mutating func `of a partial snapshot's entities, those with newer values keep them`() throws
  {
    try share([1, 1, 1], at: 1)
    // Both are based on tick 1. The first has entity 0, the second entity 1.
    let older = encode([2, 2, 2], at: 2, selecting: [true, false, false])
    let newer = encode([3, 3, 3], at: 3, selecting: [false, true, false])
    #expect(try receiver.receive(older.span) == true)
    #expect(values == [2, 1, 1])
    #expect(receiver.entityTicks == [Tick(2), Tick(1), Tick(1)])
    #expect(try receiver.receive(newer.span) == true)
    #expect(values == [2, 3, 1])
    #expect(receiver.entityTicks == [Tick(2), Tick(3), Tick(1)])
    // A snapshot that is not partial says everything.
    let whole = encode([4, 3, 1], at: 4)
    #expect(try receiver.receive(whole.span) == true)
    #expect(values == [4, 3, 1])
    #expect(receiver.tick == Tick(4))
  }

  @Test mutating func `a snapshot that was overtaken changes nothing, but is acknowledged`() throws
  {
    try share([1, 1], at: 1)
    let older = encode([2, 2], at: 2)
    let newer = encode([3, 3], at: 3)
    #expect(try receiver.receive(newer.span) == true)
    #expect(receiver.acknowledgement == SnapshotAcknowledgement(newest: Tick(3), earlier: 0b10))
    #expect(try receiver.receive(older.span) == false)
    #expect(values == [3, 3] && receiver.tick == Tick(3))
    #expect(receiver.acknowledgement == SnapshotAcknowledgement(newest: Tick(3), earlier: 0b11))
    #expect(throws: SnapshotError.stale(Tick(2))) { try receiver.receive(older.span) }
  }

  @Test mutating func `a snapshot with a baseline that was released is late, and requests nothing`()
    throws
  {
    try share([1, 1], at: 1)
    let late = encode([2, 2], at: 2)
    for tick in 3...6 as ClosedRange<UInt64> { try share([Int64(tick), 1], at: tick) }
    #expect(throws: SnapshotError.stale(Tick(1))) { try receiver.receive(late.span) }
    #expect(receiver.acknowledgement.newest == Tick(6))
    #expect(values == [6, 1])
  }

  @Test mutating func `each snapshot is based on the newest that was acknowledged`() throws {
    _ = encode([1], at: 1)
    #expect(sender.acknowledgedTick == nil && sender.sentTick == Tick(1))
    _ = encode([2], at: 2)
    sender.acknowledge(Tick(2))
    #expect(sender.acknowledgedTick == Tick(2))
    // Older ticks, and those that were never sent, change nothing.
    for tick in [1, 0, 3, 99] as [UInt64] { sender.acknowledge(Tick(tick)) }
    #expect(sender.acknowledgedTick == Tick(2))
    sender.acknowledge(SnapshotAcknowledgement(newest: nil))
    #expect(sender.acknowledgedTick == nil)
    try receiver.receive(encode([5], at: 5).span)
    #expect(values == [5])
    // A second request does not discard the full snapshot that answers the first.
    sender.acknowledge(SnapshotAcknowledgement(newest: nil))
    sender.acknowledge(SnapshotAcknowledgement(newest: Tick(5)))
    #expect(sender.acknowledgedTick == Tick(5))
  }

  @Test mutating func `the bits of an acknowledgement are the 16 ticks before its newest`() {
    for tick in 1...40 as ClosedRange<UInt64> { _ = encode([Int64(tick)], at: tick) }
    var early = sender
    early.acknowledge(SnapshotAcknowledgement(newest: Tick(50), earlier: 0x8000))
    #expect(early.acknowledgedTick == Tick(34))
    early = sender
    early.acknowledge(SnapshotAcknowledgement(newest: Tick(41), earlier: 0b0001))
    #expect(early.acknowledgedTick == Tick(40))
    early = sender
    early.acknowledge(SnapshotAcknowledgement(newest: Tick(41), earlier: 0b0010))
    #expect(early.acknowledgedTick == Tick(39))
  }

  @Test mutating func `after 64 snapshots without acknowledgement the oldest is forgotten`() {
    for tick in 1...64 as ClosedRange<UInt64> { _ = encode([Int64(tick)], at: tick) }
    var full = sender
    full.acknowledge(Tick(1))
    #expect(full.acknowledgedTick == Tick(1))
    _ = encode([65], at: 65)
    sender.acknowledge(Tick(1))
    #expect(sender.acknowledgedTick == nil)
    sender.acknowledge(Tick(2))
    #expect(sender.acknowledgedTick == Tick(2))
    // The baseline is never forgotten.
    for tick in 66...200 as ClosedRange<UInt64> { _ = encode([Int64(tick)], at: tick) }
    #expect(sender.acknowledgedTick == Tick(2))
    sender.acknowledge(Tick(200))
    #expect(sender.acknowledgedTick == Tick(200))
  }

  @Test mutating func `a snapshot without selected entities is partial and empty`() throws {
    try share([1, 1], at: 1)
    sender.plan(table([1, 1]), at: Tick(2), selecting: nil)
    #expect(sender.isPlanEmpty && !sender.isPlanPartial)
    sender.plan(table([1, 7]), at: Tick(2), selecting: [true, false])
    #expect(sender.isPlanEmpty && sender.isPlanPartial)
    sender.plan(table([1, 7, 8]), at: Tick(2), selecting: [true, true, true])
    #expect(!sender.isPlanEmpty && !sender.isPlanPartial)
    #expect(sender.plannedPlaces == [1, 2] && sender.plannedEnters == [2])
    sender.plan(table([1]), at: Tick(2), selecting: [false])
    #expect(!sender.isPlanEmpty && !sender.isPlanPartial)
    #expect(sender.plannedPlaces == [])
    // A withdrawn snapshot was never sent.
    sender.writePlanned()
    sender.withdraw()
    sender.acknowledge(Tick(2))
    #expect(sender.acknowledgedTick == Tick(1) && sender.sentTick == Tick(1))
  }

  @Test mutating func `a sender and a receiver have at most as many entities as their limit`()
    throws
  {
    sender = SnapshotSender(schema: Self.schema, memberLimit: 3)
    receiver = SnapshotReceiver(schema: Self.schema, memberLimit: 3)
    #expect(SnapshotSender(schema: Self.schema).memberLimit == 16_384)
    try share([1, 2, 3], at: 1)
    #expect(values == [1, 2, 3])
    let rows = [(UInt32(1), [Int64(2), 2]), (7, [8, 8]), (9, [9, 9])]
    let bytes = sender.encode(makeTable(Self.schema, rows), at: Tick(2))
    try receiver.receive(bytes.span)
    #expect(receiver.entities.ids == [1, 7, 9])
    var narrow = SnapshotReceiver(schema: Self.schema, memberLimit: 2)
    sender.reset()
    #expect(throws: SnapshotError.self) {
      try narrow.receive(sender.encode(makeTable(Self.schema, rows), at: Tick(3)).span)
    }
    #expect(narrow.entities.count == 0 && narrow.acknowledgement.wantsKeyframe)
  }
}
