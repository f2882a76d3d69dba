import CaromCore
import CaromDNS
import Testing

/// When cached records are refreshed and when they end (RFC 6762 §5.2, §10).
@Suite struct CacheRuleTests {
  private let key = RecordKey("host.local", .a)

  private func makeRecord(_ value: UInt32, life: UInt32 = 120, flush: Bool = true) -> Record {
    Record("host.local", .address(.v4(value)), timeToLive: life, flushesCache: flush)
  }

  private func insert(
    _ record: Record, in cache: inout RecordCache, at seconds: Double, on interface: UInt32 = 2,
    jitter: UInt8 = 0
  ) {
    _ = cache.insert(
      record, from: .v4(1), on: interface, at: .zero + .seconds(seconds), jitter: jitter,
      isWanted: { _ in true })
  }

  private func setKey(on interface: UInt32 = 2) -> RecordCache.SetKey {
    RecordCache.SetKey(interface: interface, key: key)
  }

  /// The times, in milliseconds, of all refreshes and expiries up to `end`, in seconds.
  private func run(
    _ cache: inout RecordCache, until end: Double = .infinity
  ) -> (refreshes: [Int64], expiries: [Int64]) {
    var result: (refreshes: [Int64], expiries: [Int64]) = ([], [])
    while let next = cache.nextTimeout, Double(next.nanoseconds) <= end * 1e9 {
      while let event = cache.handleTimeout(at: next, isWanted: { _ in true }) {
        switch event {
        case .refresh: result.refreshes.append(next.nanoseconds / 1_000_000)
        case .expired: result.expiries.append(next.nanoseconds / 1_000_000)
        }
      }
    }
    return result
  }

  @Test(
    arguments: [
      (120, 0, [96_000, 102_000, 108_000, 114_000]),
      (120, 10, [97_200, 103_200, 109_200, 115_200]),
      (120, 5, [97_200, 103_200, 109_200, 115_200]),
      (18, 0, [15_300, 16_200, 17_100]), (16, 0, [15_200]), (15, 0, []), (1, 0, []),
    ] as [(UInt32, UInt8, [Int64])])
  func `R4: a record is refreshed at four points of its life, none earlier than 15 s`(
    life: UInt32, jitter: UInt8, times: [Int64]
  ) {
    var cache = RecordCache()
    insert(makeRecord(1, life: life), in: &cache, at: 0, jitter: jitter)
    let events = run(&cache)
    #expect(events.refreshes == times && events.expiries == [Int64(life) * 1000])
  }

  @Test func `R4: a renewed record is refreshed at four points of its new life`() {
    var cache = RecordCache()
    insert(makeRecord(1), in: &cache, at: 0)
    #expect(run(&cache, until: 96).refreshes == [96_000])
    insert(makeRecord(1), in: &cache, at: 96)
    let events = run(&cache)
    #expect(events.refreshes == [192_000, 198_000, 204_000, 210_000])
    #expect(events.expiries == [216_000])
    #expect(cache.count == 0 && cache.byteCount == 0 && cache.tableCounts == (0, 0, 0))
  }

  @Test func `R4: a renewed record has the new time to live, shorter or longer`() {
    for (life, end) in [(10, 60_000), (500, 550_000)] as [(UInt32, Int64)] {
      var cache = RecordCache()
      insert(makeRecord(1), in: &cache, at: 0)
      insert(makeRecord(1, life: life), in: &cache, at: 50)
      #expect(cache.entries(at: setKey()).map(\.record.timeToLive) == [life])
      #expect(run(&cache).expiries == [end])
    }
  }

  @Test func `R53: a record received exactly a second before a cache flush stays`() {
    var cache = RecordCache()
    insert(makeRecord(1), in: &cache, at: 3.999)
    insert(makeRecord(2), in: &cache, at: 4)
    insert(makeRecord(3), in: &cache, at: 5)
    #expect(run(&cache, until: 50).expiries == [6000])
    #expect(
      cache.entries(at: setKey()).map(\.record.data) == [.address(.v4(2)), .address(.v4(3))])
  }

  @Test func `R53: a cache flush reaches old records also if others expired before them`() {
    var cache = RecordCache()
    insert(makeRecord(1, life: 2, flush: false), in: &cache, at: 0)
    insert(makeRecord(2, flush: false), in: &cache, at: 0)
    #expect(run(&cache, until: 3).expiries == [2000])
    insert(makeRecord(3), in: &cache, at: 5)
    #expect(run(&cache, until: 50).expiries == [6000])
  }

  @Test(arguments: [5, 9.5])
  func `R53: a cache flush reaches old records also if others were renewed after them`(
    renewal: Double
  ) {
    var cache = RecordCache()
    insert(makeRecord(1, flush: false), in: &cache, at: 0)
    insert(makeRecord(2, flush: false), in: &cache, at: 0.5)
    insert(makeRecord(1, flush: false), in: &cache, at: renewal)
    insert(makeRecord(3), in: &cache, at: 10)
    let left = renewal > 9 ? 2 : 1
    #expect(run(&cache, until: 50).expiries == Array(repeating: 11_000, count: 3 - left))
    #expect(cache.entries(at: setKey()).count == left)
  }

  @Test func `R53: a flushed record that is received again lives on, and the next flush ends it`() {
    var cache = RecordCache()
    insert(makeRecord(1), in: &cache, at: 0)
    insert(makeRecord(2), in: &cache, at: 5)
    #expect(cache.current(at: setKey()).map(\.record.data) == [.address(.v4(2))])
    insert(makeRecord(1), in: &cache, at: 5.5)
    #expect(cache.current(at: setKey()).count == 2)
    #expect(run(&cache, until: 19).expiries.isEmpty)
    insert(makeRecord(2), in: &cache, at: 20)
    #expect(run(&cache, until: 50).expiries == [21_000])
  }

  @Test func `R53: a flush concerns one interface, name and type, and a goodbye flushes nothing`() {
    var cache = RecordCache()
    insert(makeRecord(1), in: &cache, at: 0, on: 3)
    insert(Record("host.local", .text([0]), timeToLive: 120), in: &cache, at: 0)
    insert(Record("other.local", .address(.v4(1)), timeToLive: 120), in: &cache, at: 0)
    insert(makeRecord(1), in: &cache, at: 0)
    insert(makeRecord(2, life: 0), in: &cache, at: 5)
    insert(makeRecord(1, life: 0), in: &cache, at: 5, on: 4)
    #expect(run(&cache, until: 50).expiries.isEmpty && cache.count == 4)
    insert(makeRecord(2), in: &cache, at: 50)
    #expect(run(&cache, until: 60).expiries == [51_000])
  }

  @Test func `R52: a goodbye does not lengthen a life, and the record is not refreshed again`() {
    var cache = RecordCache()
    insert(makeRecord(1, life: 20), in: &cache, at: 0)
    insert(makeRecord(1, life: 0), in: &cache, at: 19.5)
    #expect(cache.current(at: setKey()).isEmpty && cache.entries(at: setKey()).count == 1)
    #expect(run(&cache).expiries == [20_000])
    insert(makeRecord(1, life: 17), in: &cache, at: 100)
    insert(makeRecord(1, life: 0), in: &cache, at: 114.5)
    let events = run(&cache)
    #expect(events.refreshes.isEmpty && events.expiries == [115_500])
  }

  @Test func `R57: a reconfirmed record ends within the given time, and others stay`() {
    var cache = RecordCache()
    for value: UInt32 in 1...2 {
      insert(makeRecord(value, flush: false), in: &cache, at: 0)
    }
    insert(makeRecord(3, life: 53, flush: false), in: &cache, at: 0)
    cache.reconfirm(setKey(), for: .seconds(10), at: .zero + .seconds(50)) {
      $0.data != .address(.v4(2))
    }
    #expect(cache.current(at: setKey()).map(\.record.data) == [.address(.v4(2))])
    #expect(run(&cache, until: 100).expiries == [53_000, 60_000])
    #expect(cache.count == 1)
  }

  @Test(
    arguments: [
      ("q10 q13", 20), ("q10 q19.5", 21.5), ("q10 q20", 22), ("q10 q20.25", 120),
      ("q10 q20.25 q25", 30.25), ("q10 q13 q19", 20), ("q10 k13", 120), ("k10 k13", 120),
      ("q0.5 q0.9", 120), ("q0.9 q2", 120), ("q1 q2", 11), ("q10 a12 q13", 132),
      ("q10 a12 q13.5 q15", 23.5), ("q10 q13 a15", 135), ("q115 q119", 120), ("q10", 120),
    ])
  func `RFC 6762 §10.5: a record ends after two unanswered queries within ten seconds`(
    script: String, end: Double
  ) throws {
    var cache = RecordCache()
    insert(makeRecord(1), in: &cache, at: 0)
    for step in script.split(separator: " ") {
      let seconds = try #require(Double(step.dropFirst()))
      _ = run(&cache, until: seconds)
      if step.first == "a" {
        insert(makeRecord(1), in: &cache, at: seconds)
      } else {
        cache.observeQuery(
          for: setKey(), known: step.first == "k" ? [makeRecord(1).identity] : [],
          at: .zero + .seconds(seconds))
        #expect(cache.current(at: setKey()).count == 1)
      }
    }
    #expect(run(&cache).expiries == [Int64((end * 1000).rounded())])
  }

  @Test func `R56: the records of one interface are removed together, the oldest first`() {
    var cache = RecordCache()
    for value: UInt32 in [1, 2, 3] {
      insert(makeRecord(value, flush: false), in: &cache, at: 0)
      insert(makeRecord(value, flush: false), in: &cache, at: 0, on: 3)
    }
    insert(makeRecord(1, flush: false), in: &cache, at: 1)
    let removed = cache.removeAll(on: 2)
    #expect(removed.map(\.1.data) == [2, 3, 1].map { .address(.v4($0)) })
    #expect(removed.allSatisfy { $0.0 == setKey() })
    #expect(cache.entries(at: setKey()).isEmpty && cache.entries(at: setKey(on: 3)).count == 3)
    #expect(cache.tableCounts == (1, 1, 3))
  }
}
