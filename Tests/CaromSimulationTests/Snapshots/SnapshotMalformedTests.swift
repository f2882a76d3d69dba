import CaromCore
import CaromTesting
import Testing

@testable import CaromSimulation

#if DEBUG
  private let rounds: UInt64 = 30
#else
  private let rounds: UInt64 = 1_000
#endif

@Suite struct SnapshotMalformedTests {
  /// Returns a receiver in the middle of a stream, and the snapshot that it receives next.
  private func makeReceiver(_ seed: UInt64) throws -> (SnapshotReceiver, [UInt8]) {
    var world = SnapshotWorld(seed: seed)
    var sender = SnapshotSender(schema: world.schema)
    var receiver = SnapshotReceiver(schema: world.schema, memberLimit: 256)
    for tick in 0..<(10 + seed % 20) {
      world.advance()
      let bytes = sender.encode(world.table, at: Tick(tick))
      _ = try receiver.receive(bytes.span)
      if tick % 3 == 0 { sender.acknowledge(Tick(tick)) }
    }
    world.advance()
    return (receiver, sender.encode(world.table, at: Tick(40)))
  }

  /// Whether the receiver rejects the bytes, or encodes the decoded snapshot to the same bytes.
  private func isRefusedOrWritten(_ receiver: SnapshotReceiver, _ bytes: [UInt8]) -> Bool {
    var receiver = receiver
    do throws(SnapshotError) {
      return try receiver.rewrite(bytes.span) == bytes
    } catch {
      return true
    }
  }

  @Test func `random bytes are rejected, or encode to the same bytes again`() throws {
    for seed in 0..<rounds {
      var generator = SeededGenerator(seed: seed)
      let (receiver, _) = try makeReceiver(seed)
      for _ in 0..<40 {
        let count = Int.random(in: 0...30, using: &generator)
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try #require(isRefusedOrWritten(receiver, bytes), "seed \(seed)")
      }
    }
  }

  @Test func `corrupted snapshots are rejected, or encode to the same bytes again`() throws {
    for seed in 0..<rounds {
      var generator = SeededGenerator(seed: seed)
      let (receiver, snapshot) = try makeReceiver(seed)
      try #require(isRefusedOrWritten(receiver, snapshot))
      for _ in 0..<40 {
        var bytes = snapshot
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch generator.next() % 4 {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        case 1: bytes.removeLast(bytes.count - place)
        case 2: bytes.append(UInt8.random(in: 0...255, using: &generator))
        default: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        }
        try #require(isRefusedOrWritten(receiver, bytes), "seed \(seed)")
      }
    }
  }

  @Test func `a truncated or extended snapshot is rejected`() throws {
    let (receiver, bytes) = try makeReceiver(5)
    for count in 0..<bytes.count {
      var receiver = receiver
      let cut = Array(bytes[..<count])
      let isTaken = (try? receiver.receive(cut.span)) ?? false
      #expect(!isTaken || cut.count != bytes.count)
    }
    for byte in [UInt8(0), 1, 255] {
      var receiver = receiver
      #expect(throws: SnapshotError.self) { try receiver.receive((bytes + [byte]).span) }
    }
  }

  @Test func `more members than allowed are rejected before memory is allocated for them`() throws {
    let schema = EntitySchema(.flag)
    var sender = SnapshotSender(schema: schema)
    let rows = (0..<300).map { (UInt32($0), [Int64(0)]) }
    let bytes = sender.encode(makeTable(schema, rows), at: .zero)
    var narrow = SnapshotReceiver(schema: schema, memberLimit: 299)
    #expect(throws: SnapshotError.self) { try narrow.receive(bytes.span) }
    var wide = SnapshotReceiver(schema: schema, memberLimit: 300)
    #expect(try wide.receive(bytes.span))
  }

  @Test func `a duplicate snapshot is stale`() throws {
    var (receiver, bytes) = try makeReceiver(6)
    #expect(try receiver.receive(bytes.span))
    #expect(throws: SnapshotError.stale(Tick(40))) { try receiver.receive(bytes.span) }
  }
}
