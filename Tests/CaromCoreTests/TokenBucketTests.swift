import CaromCore
import Testing

@Suite struct TokenBucketTests {
  @Test func `a bucket provides its capacity at once, then one token per period`() {
    var bucket = TokenBucket(capacity: 3, tokens: 1, per: 10)
    var consumed: [Bool] = []
    for (count, time) in [(2, 0), (2, 0), (1, 0), (1, 9), (1, 10), (1, 19)] as [(Int, Int64)] {
      consumed.append(bucket.consume(count, at: time))
    }
    #expect(consumed == [true, false, true, false, true, false])
    let later = bucket.available(at: 9_000)
    #expect(later == 3)
  }

  @Test func `fractions of a token add up exactly`() {
    var bucket = TokenBucket(capacity: 200, tokens: 1_000, per: 60)
    let isFull = bucket.consume(200, at: 5)
    #expect(isFull)
    var total = 0
    for tick in 6...65 as ClosedRange<Int64> {
      let available = bucket.available(at: tick)
      let isConsumed = bucket.consume(available, at: tick)
      #expect(isConsumed)
      total += available
    }
    #expect(total == 1_000)
  }

  @Test func `the time of the next tokens is the first at which they can be consumed`() {
    var bucket = TokenBucket(capacity: 5, tokens: 2, per: 7)
    let atOnce = bucket.nextTime(of: 5, at: 100)
    #expect(atOnce == 100)
    _ = bucket.consume(5, at: 100)
    for count in 1...5 {
      let next = bucket.nextTime(of: count, at: 101)
      var (early, due) = (bucket, bucket)
      let isEarly = early.consume(count, at: next - 1)
      let isDue = due.consume(count, at: next)
      #expect(!isEarly && isDue, "\(count)")
    }
  }

  @Test func `a bucket never exceeds its capacity, and ignores a time that goes back`() {
    var bucket = TokenBucket(capacity: 5, tokens: 2, per: 3)
    _ = bucket.consume(5, at: 10)
    let atMost = bucket.available(at: .max)
    #expect(atMost == 5)
    _ = bucket.consume(5, at: .max)
    let before = bucket.available(at: 0)
    #expect(before == 0)
  }

  @Test func `a span of time counts once, even if an earlier time is passed in between`() {
    var bucket = TokenBucket(capacity: 50, tokens: 1, per: 1)
    _ = bucket.consume(50, at: 100)
    var available: [Int] = []
    for time in [60, 100, 110, 90, 110, 111] as [Int64] {
      available.append(bucket.available(at: time))
    }
    #expect(available == [0, 0, 10, 10, 10, 11])
  }
}
