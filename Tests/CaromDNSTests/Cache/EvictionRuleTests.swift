import CaromCore
import CaromDNS
import Testing

/// How much room records take in the cache, and how much an eviction frees.
@Suite struct EvictionRuleTests {
  private static let type: Name = "_t.local"

  private func makePointer(_ index: Int) throws -> Record {
    Record(Self.type, .pointer(try Name(text: "p\(index)")), timeToLive: 120)
  }

  private func insert(
    _ record: Record, in cache: inout RecordCache, from source: UInt32 = 1, at seconds: Double = 0,
    isWanted: Bool = false
  ) -> RecordCache.Insertion {
    cache.insert(
      record, from: .v4(source), on: 2, at: .zero + .seconds(seconds), jitter: 0,
      isWanted: { $0.name == Self.type && isWanted })
  }

  @Test(
    arguments: [
      (.address(.v4(1)), 0), (.pointer("abc"), 8), (.text([1, 97]), 2),
      (.service(priority: 0, weight: 0, port: 1, target: "abc"), 8),
      (.raw(RecordType(rawValue: 13), [1, 2, 3]), 3), (.types(next: "abc", [.a, .aaaa]), 12),
    ] as [(RecordData, Int)])
  func `a record takes 256 bytes, its names twice and its data`(data: RecordData, bytes: Int) {
    var cache = RecordCache()
    _ = insert(Record("host.local", data, timeToLive: 120), in: &cache)
    _ = insert(Record("host.local", data, timeToLive: 120), in: &cache)
    #expect(cache.byteCount == 256 + 2 * 11 + bytes)
    #expect(cache.removeAll(on: 2).count == 1)
    #expect(cache.byteCount == 0 && cache.tableCounts == (0, 0, 0))
  }

  @Test func `the 65th record of a name evicts eight, and the 2049th PTR record 256`() throws {
    var cache = RecordCache()
    for index: UInt32 in 0..<65 {
      #expect(cache.popEvicted().isEmpty)
      let record = Record("a.local", .address(.v4(index)), timeToLive: 120)
      #expect(insert(record, in: &cache) == .new)
    }
    #expect(
      Set(cache.popEvicted().map(\.1.data)) == Set((0..<8).map { RecordData.address(.v4($0)) }))
    #expect(cache.popEvicted().isEmpty && cache.count == 57)
    for index in 0..<2049 {
      #expect(cache.popEvicted().isEmpty)
      #expect(insert(try makePointer(index), in: &cache, from: UInt32(2 + index % 4)) == .new)
    }
    #expect(cache.popEvicted().count == 256)
  }

  @Test func `a full sender is refused for a second without another search`() throws {
    var cache = RecordCache()
    for index in 0..<1024 { _ = insert(try makePointer(index), in: &cache, isWanted: true) }
    let record = Record("a.local", .address(.v4(1)), timeToLive: 120)
    #expect(insert(record, in: &cache, isWanted: true) == .refused)
    // Within the second nothing is searched, even if the other records are no longer wanted.
    #expect(insert(record, in: &cache, at: 0.999) == .refused)
    #expect(cache.popEvicted().isEmpty)
    #expect(insert(record, in: &cache, at: 1) == .new)
    #expect(cache.popEvicted().count == 129)
  }

  @Test func `a more important record is not refused because a lesser one was`() throws {
    var cache = RecordCache()
    for index in 0..<1024 { _ = insert(try makePointer(index), in: &cache, isWanted: true) }
    let record = Record("a.local", .address(.v4(1)), timeToLive: 120)
    #expect(insert(record, in: &cache, isWanted: true) == .refused)
    #expect(insert(try makePointer(5000), in: &cache, at: 0.5, isWanted: true) == .new)
    #expect(cache.popEvicted().count == 129)
  }

  @Test func `a record larger than a sender's share is refused and evicts nothing`() {
    var cache = RecordCache()
    let record = Record("a.local", .address(.v4(1)), timeToLive: 120)
    #expect(insert(record, in: &cache) == .new)
    let share = RecordCache.byteCapacity / RecordCache.sourceShare
    for (size, outcome) in [(share, false), (share - 256 - 16, true)] {
      let big = Record("b.local", .text([UInt8](repeating: 0, count: size)), timeToLive: 120)
      let insertion = insert(big, in: &cache, from: 2)
      #expect((insertion == .new) == outcome)
      #expect(cache.popEvicted().isEmpty)
    }
  }
}
