import CaromCore
import CaromDNS
import Testing

@Suite struct RecordCacheTests {
  private let key = RecordKey("host.local", .a)

  private func makeRecord(
    _ value: UInt32, name: Name = "host.local", life: UInt32 = 120, flush: Bool = true
  ) -> Record {
    Record(name, .address(.v4(value)), timeToLive: life, flushesCache: flush)
  }

  private func insert(_ record: Record, in cache: inout RecordCache, at seconds: Double) {
    _ = cache.insert(
      record, from: .v4(1), on: 2, at: .zero + .seconds(seconds), jitter: 0,
      isWanted: { $0 == key })
  }

  private func live(_ cache: inout RecordCache, at seconds: Double) -> [RecordData] {
    while cache.handleTimeout(at: .zero + .seconds(seconds), isWanted: { _ in false }) != nil {}
    return cache.entries(at: RecordCache.SetKey(interface: 2, key: key)).map(\.record.data)
  }

  @Test func `R53: a cache-flush bit expires data older than one second after one more second`() {
    var cache = RecordCache()
    insert(makeRecord(1), in: &cache, at: 0)
    insert(makeRecord(2), in: &cache, at: 5)
    insert(makeRecord(3), in: &cache, at: 5.5)
    #expect(live(&cache, at: 5.9).count == 3)
    #expect(live(&cache, at: 6) == [.address(.v4(2)), .address(.v4(3))])
  }

  @Test func `R52: a goodbye expires a record after one second unless it is received again`() {
    var cache = RecordCache()
    insert(makeRecord(1), in: &cache, at: 0)
    insert(makeRecord(1, life: 0), in: &cache, at: 10)
    insert(makeRecord(1), in: &cache, at: 10.5)
    #expect(live(&cache, at: 12).count == 1)
    insert(makeRecord(1, life: 0), in: &cache, at: 13)
    #expect(live(&cache, at: 13.9).count == 1)
    #expect(live(&cache, at: 14).isEmpty)
    insert(makeRecord(1, life: 0), in: &cache, at: 15)
    #expect(cache.count == 0)
  }

  @Test func `R4 R55: a wanted record is refreshed at 80, 85, 90 and 95 percent, then expires`() {
    var cache = RecordCache()
    insert(makeRecord(1), in: &cache, at: 0)
    var times: [Int64] = []
    while let next = cache.nextTimeout {
      while let event = cache.handleTimeout(at: next, isWanted: { _ in true }) {
        if case .refresh = event { times.append(next.nanoseconds / 1_000_000) }
      }
    }
    #expect(times == [96_000, 102_000, 108_000, 114_000])
    #expect(cache.count == 0)
  }

  @Test func `receiving the same record repeatedly takes no more memory`() {
    var cache = RecordCache()
    for index in 0..<5000 { insert(makeRecord(1), in: &cache, at: Double(index) / 1000) }
    #expect(cache.count == 1)
    #expect(cache.timerCount <= 300)
  }
}
