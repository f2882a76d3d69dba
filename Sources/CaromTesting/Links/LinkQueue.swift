import CaromCore

/// The queue in front of a bottleneck, modeled as a fluid that drains at a constant rate. Its state
/// is mainly the time at which it will be empty, so adding a datagram takes constant time.
struct LinkQueue: Sendable {
  private static let second: Int64 = 1_000_000_000

  /// The time at which the queue will be empty, if nothing is added.
  private(set) var emptyAt = Instant.zero
  /// The remainder of the conversion from bytes to nanoseconds, carried over so that rounding does
  /// not change the rate.
  private var remainder: Int64 = 0

  /// Returns the queueing delay of a datagram added at `now`, in nanoseconds.
  func wait(at now: Instant) -> Int64 { max(0, emptyAt.nanoseconds - now.nanoseconds) }

  /// Returns the length of the queue at `now` in bytes, rounded up.
  func length(at now: Instant, rate: Int) -> Int {
    let (seconds, rest) = wait(at: now).quotientAndRemainder(dividingBy: Self.second)
    return Int(seconds) * rate + (Int(rest) * rate + Int(Self.second) - 1) / Int(Self.second)
  }

  /// Returns whether the limit permits adding `bytes` bytes at `now`. An empty queue has room for
  /// any number of bytes.
  func hasRoom(for bytes: Int, limit: QueueLimit, rate: Int, at now: Instant) -> Bool {
    let wait = wait(at: now)
    if wait == 0 { return true }
    return switch limit {
    case .bytes(let most): length(at: now, rate: rate) + bytes <= most
    case .time(let most): wait <= most.wholeNanoseconds
    }
  }

  /// Adds bytes to the queue, and returns the time at which the last byte departs.
  mutating func append(_ bytes: Int, rate: Int, at now: Instant) -> Instant {
    if emptyAt <= now {
      emptyAt = now
      remainder = 0
    }
    let (time, rest) = (Int64(bytes) * Self.second + remainder)
      .quotientAndRemainder(dividingBy: Int64(rate))
    remainder = rest
    emptyAt = emptyAt.advanced(byNanoseconds: time)
    return emptyAt
  }

  /// Returns the time at which the queue will have drained to half of its limit if nothing is
  /// added. Streams then resume sending.
  func halfEmptyAt(limit: QueueLimit, rate: Int) -> Instant {
    let half: Int64 =
      switch limit {
      case .bytes(let most):
        Int64(most / 2) / Int64(rate) * Self.second
          + Int64(most / 2) % Int64(rate) * Self.second / Int64(rate)
      case .time(let most): most.wholeNanoseconds / 2
      }
    return emptyAt.advanced(byNanoseconds: -half)
  }
}
