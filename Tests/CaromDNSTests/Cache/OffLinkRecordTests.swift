import CaromCore
import Testing

@testable import CaromDNS

/// What records may do whose sender is not on the link: their source may be invented.
@Suite struct OffLinkRecordTests {
  private let setKey = RecordCache.SetKey(interface: 2, key: RecordKey("host.local", .a))

  private func makeRecord(_ value: UInt32, life: UInt32 = 120, flush: Bool = true) -> Record {
    Record("host.local", .address(.v4(value)), timeToLive: life, flushesCache: flush)
  }

  private func insert(
    _ record: Record, in cache: inout RecordCache, at seconds: Int64, isOnLink: Bool
  ) -> RecordCache.Insertion {
    cache.insert(
      record, from: .v4(9), isOnLink: isOnLink, on: 2, at: .zero + .seconds(seconds), jitter: 0,
      isWanted: { _ in true })
  }

  /// The seconds after which the records of the set expire.
  private func ends(_ cache: RecordCache) -> [Int64] {
    cache.entries(at: setKey).map { ($0.expires - .zero).components.seconds }
  }

  @Test func `R59: a goodbye counts only from the link`() {
    var cache = RecordCache()
    #expect(insert(makeRecord(1), in: &cache, at: 0, isOnLink: true) == .new)
    let goodbye = makeRecord(1, life: 0)
    #expect(insert(goodbye, in: &cache, at: 10, isOnLink: false) == .refused)
    #expect(ends(cache) == [120] && cache.current(at: setKey).count == 1)
    #expect(insert(goodbye, in: &cache, at: 10, isOnLink: true) == .withdrawn)
    #expect(ends(cache) == [11] && cache.current(at: setKey).isEmpty)
    #expect(cache.newest(at: setKey) == nil)
    // The second one neither counts again nor postpones the end.
    #expect(insert(goodbye, in: &cache, at: 10, isOnLink: true) == .known)
    #expect(ends(cache) == [11])
    #expect(insert(makeRecord(7, life: 0), in: &cache, at: 10, isOnLink: true) == .refused)
  }

  @Test func `R59: a life is lengthened from anywhere, and shortened only from the link`() {
    for (life, isOnLink, end) in [
      (60, false, 120), (60, true, 70), (110, false, 120), (111, false, 121), (200, false, 210),
    ] as [(UInt32, Bool, Int64)] {
      var cache = RecordCache()
      _ = insert(makeRecord(1), in: &cache, at: 0, isOnLink: true)
      let result = insert(makeRecord(1, life: life), in: &cache, at: 10, isOnLink: isOnLink)
      #expect(result == .known && ends(cache) == [end], "\(life) \(isOnLink)")
    }
  }

  @Test func `R53 R59: a cache-flush bit counts only from the link`() {
    for (isOnLink, expected) in [(false, [120, 125]), (true, [6, 125])] as [(Bool, [Int64])] {
      var cache = RecordCache()
      _ = insert(makeRecord(1), in: &cache, at: 0, isOnLink: true)
      #expect(insert(makeRecord(2), in: &cache, at: 5, isOnLink: isOnLink) == .new)
      #expect(ends(cache) == expected)
      #expect(cache.newest(at: setKey) == .address(.v4(2)))
    }
  }

  @Test func `all senders outside the link share the capacity of one`() {
    var cache = RecordCache()
    for number in 0..<1_200 as Range<UInt32> {
      let record = Record(
        Name(stringLiteral: "h\(number).local"), .address(.v4(1)), timeToLive: 120)
      _ = cache.insert(
        record, from: .v4(number), isOnLink: false, on: 2, at: .zero, jitter: 0,
        isWanted: { _ in true })
    }
    #expect(cache.count <= 1_024 && cache.count > 800 && cache.tableCounts.sources == 1)
    let evicted = [cache.popEvicted(), cache.popEvicted()].map(\.count)
    #expect(evicted == [1_200 - cache.count, 0])
  }

  @Test func `R52: the end of a record that is about to expire can be postponed`() {
    var cache = RecordCache()
    _ = insert(makeRecord(1), in: &cache, at: 0, isOnLink: true)
    cache.postponeExpiry(of: makeRecord(1), on: 2, to: .zero + .seconds(500))
    #expect(ends(cache) == [120], "the record is not about to expire")
    _ = insert(makeRecord(1, life: 0), in: &cache, at: 10, isOnLink: true)
    cache.postponeExpiry(of: makeRecord(1), on: 2, to: .zero + .seconds(10))
    cache.postponeExpiry(of: makeRecord(1), on: 3, to: .zero + .seconds(50))
    #expect(ends(cache) == [11])
    cache.postponeExpiry(of: makeRecord(1), on: 2, to: .zero + .seconds(13))
    #expect(ends(cache) == [13])
    let early = cache.handleTimeout(at: .zero + .seconds(12), isWanted: { _ in true })
    #expect(early == nil && cache.count == 1)
    guard
      case .expired(setKey, makeRecord(1))? = cache.handleTimeout(
        at: .zero + .seconds(13), isWanted: { _ in true })
    else {
      Issue.record("the record has expired")
      return
    }
    #expect(cache.count == 0)
  }
}
