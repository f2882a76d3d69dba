import CaromCore
import CaromDNS
import Testing

/// Limits on what other hosts can fill the cache with.
@Suite struct CacheBoundTests {
  #if DEBUG
    private static let many = 6000
  #else
    private static let many = 20_000
  #endif
  private static let type: Name = "_airhockey._tcp.local"

  private func makeJunk(_ index: Int, life: UInt32 = 120) -> Record {
    Record(
      Name(junk: index), .address(.v4(UInt32(truncatingIfNeeded: index))), timeToLive: life,
      flushesCache: true)
  }

  private func makePointer(_ label: String, life: UInt32 = 4500) -> Record {
    Record(Self.type, .pointer(SimulatedNetwork.makeInstance(label)), timeToLive: life)
  }

  /// Inserts a record. Records of the service type or of the name `wanted` count as wanted.
  @discardableResult
  private func insert(
    _ record: Record, in cache: inout RecordCache, from source: UInt32 = 1, at seconds: Double = 0,
    wanted: Name? = nil
  ) -> RecordCache.Insertion {
    cache.insert(
      record, from: .v4(source), on: 2, at: .zero + .seconds(seconds), jitter: 0,
      isWanted: { $0.name == Self.type || $0.name == wanted })
  }

  private func holds(_ cache: RecordCache, _ record: Record) -> Bool {
    cache.entries(at: RecordCache.SetKey(interface: 2, key: record.key))
      .contains { $0.record.identity == record.identity }
  }

  @Test func `one sender fills at most a quarter of the records, and loses its oldest junk first`()
  {
    var cache = RecordCache()
    insert(makePointer("real"), in: &cache, from: 7)
    for index in 0..<3000 { insert(makeJunk(index), in: &cache, at: Double(index) / 1000) }
    #expect(cache.count <= RecordCache.capacity / 4 + 1)
    #expect(cache.count >= RecordCache.capacity / 5)
    #expect(holds(cache, makeJunk(2999)))
    #expect(!holds(cache, makeJunk(0)))
    #expect(holds(cache, makePointer("real")))
  }

  @Test func `one sender fills at most a quarter of the bytes`() {
    var cache = RecordCache()
    for index in 0..<500 {
      let big = Record(
        Name(junk: index), .text([UInt8](repeating: 0, count: 8000)), timeToLive: 120)
      insert(big, in: &cache)
      #expect(cache.byteCount <= RecordCache.byteCapacity / 4)
    }
    #expect(cache.byteCount > RecordCache.byteCapacity / 5)
  }

  @Test func `many senders together cannot exceed the limits on records and bytes`() {
    var cache = RecordCache()
    for index in 0..<Self.many {
      insert(makeJunk(index), in: &cache, from: UInt32(index % 50))
    }
    #expect(cache.count <= RecordCache.capacity)
    #expect(cache.count > RecordCache.capacity * 3 / 4)
    for index in 0..<1000 {
      let big = Record(
        Name(junk: index), .text([UInt8](repeating: 0, count: 8000)), timeToLive: 9000)
      insert(big, in: &cache, from: UInt32(index % 50))
    }
    #expect(cache.byteCount <= RecordCache.byteCapacity)
    #expect(cache.tableCounts.sources <= 50)
    #expect(cache.tableCounts.sets <= cache.count)
    #expect(cache.tableCounts.records == cache.count)
    #expect(cache.timerCount <= 2 * RecordCache.capacity + 257)
  }

  @Test func `records that answer an active question stay while unwanted records can be evicted`() {
    var cache = RecordCache()
    let wanted = (0..<20).map { makePointer("real \($0)", life: 10) }
    for record in wanted { insert(record, in: &cache, from: 9) }
    for index in 0..<Self.many {
      insert(makeJunk(index, life: 86_400), in: &cache, from: UInt32(index % 10))
    }
    #expect(wanted.allSatisfy { holds(cache, $0) })
  }

  @Test func `among unwanted records, the ones that expire first are evicted first`() {
    var cache = RecordCache()
    for index in 0..<1024 {
      insert(makeJunk(index, life: index < 512 ? 1000 : 100), in: &cache)
    }
    insert(makeJunk(2000), in: &cache)
    let evicted = cache.popEvicted()
    #expect(evicted.count == 129)
    #expect(evicted.allSatisfy { $0.1.timeToLive == 100 })
  }

  @Test func `unwanted records are evicted before any wanted record of the same sender`() {
    var cache = RecordCache()
    for index in 0..<512 { insert(makePointer("real \(index)", life: 10), in: &cache) }
    for index in 0..<512 { insert(makeJunk(index, life: 86_400), in: &cache) }
    insert(makePointer("new"), in: &cache)
    let evicted = cache.popEvicted()
    #expect(evicted.count == 129)
    #expect(evicted.allSatisfy { $0.1.type == .a })
    #expect((0..<512).allSatisfy { holds(cache, makePointer("real \($0)")) })
  }

  @Test func `among wanted records, those of the sender with the most are evicted first`() {
    var cache = RecordCache()
    for index in 0..<20 { insert(makePointer("real \(index)"), in: &cache, from: 99) }
    for index in 0..<Self.many {
      insert(makePointer("fake \(index)", life: 86_400), in: &cache, from: UInt32(index % 8))
      for (_, record) in cache.popEvicted() { #expect(record.timeToLive == 86_400) }
    }
    #expect(cache.count <= RecordCache.pointerCapacity)
    #expect((0..<20).allSatisfy { holds(cache, makePointer("real \($0)")) })
  }

  @Test func `unwanted records never displace wanted ones`() {
    var cache = RecordCache()
    for index in 0..<1024 { insert(makePointer("real \(index)", life: 10), in: &cache) }
    #expect(insert(makeJunk(1), in: &cache) == .refused)
    #expect(cache.popEvicted().isEmpty)
    #expect(insert(makeJunk(1), in: &cache, from: 2) == .new)
  }

  @Test func `a name has at most 64 records of a type, or 2048 PTR records`() {
    var cache = RecordCache()
    for index in 0..<1000 {
      let record = Record("a.local", .address(.v4(UInt32(index))), timeToLive: 120)
      insert(record, in: &cache, wanted: "a.local")
      insert(makePointer("\(index)"), in: &cache, from: 3)
    }
    let setKey = RecordCache.SetKey(interface: 2, key: RecordKey("a.local", .a))
    #expect(cache.entries(at: setKey).count <= RecordCache.setCapacity)
    #expect(cache.entries(at: setKey).last?.record.data == .address(.v4(999)))
    #expect(cache.count == cache.entries(at: setKey).count + 1000)
  }

  @Test func `a flood causes few eviction searches for each record`() {
    let count = Self.many
    var cache = RecordCache()
    var asked = 0
    for index in 0..<1024 { insert(makePointer("real \(index)"), in: &cache, from: 200) }
    for index in 0..<count {
      let record = index % 2 == 0 ? makeJunk(index) : makePointer("fake \(index)")
      _ = cache.insert(
        record, from: .v4(UInt32(index % 6)), on: 2, at: .zero, jitter: 0,
        isWanted: { key in
          asked += 1
          return key.name == Self.type
        })
      _ = cache.popEvicted()
    }
    #expect(asked <= 40 * count)
  }

  @Test func `a cache flush visits each of many records once`() {
    var cache = RecordCache()
    for index in 0..<1000 { insert(makePointer("\(index)"), in: &cache) }
    var flush = makePointer("flush")
    flush.flushesCache = true
    for index in 0..<1000 { insert(flush, in: &cache, at: 2 + Double(index) / 10_000) }
    let setKey = RecordCache.SetKey(interface: 2, key: flush.key)
    #expect(cache.current(at: setKey).map(\.record.identity) == [flush.identity])
    while cache.handleTimeout(at: .zero + .seconds(3.5), isWanted: { _ in false }) != nil {}
    #expect(cache.count == 1)
  }

  @Test func `times to live are limited to a day`() {
    var cache = RecordCache()
    insert(makeJunk(1, life: .max), in: &cache)
    let setKey = RecordCache.SetKey(interface: 2, key: makeJunk(1).key)
    #expect(cache.entries(at: setKey).first?.expires == .zero + .seconds(86_400))
  }
}

extension Name {
  /// One of many distinct host names.
  init(junk index: Int) {
    guard let name = try? Name(text: "junk\(index).local") else {
      preconditionFailure("junk\(index).local is not a valid name")
    }
    self = name
  }
}
