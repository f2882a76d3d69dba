import CaromCore

/// What waits in front of a link of limited rate, as a fluid: it flows out evenly, so that one
/// number says all of it, and a datagram costs the same however many wait.
struct LinkQueue: Sendable {
  private static let second: Int64 = 1_000_000_000

  /// When the last of what was taken will have left.
  private(set) var emptyAt = Instant.zero
  /// What the division into nanoseconds left over, so that no rate is off by rounding.
  private var remainder: Int64 = 0

  /// How long the next one waits.
  func wait(at now: Instant) -> Int64 { max(0, emptyAt.nanoseconds - now.nanoseconds) }

  /// How many bytes wait; the one that is half gone counts.
  func length(at now: Instant, rate: Int) -> Int {
    let (seconds, rest) = wait(at: now).quotientAndRemainder(dividingBy: Self.second)
    return Int(seconds) * rate + (Int(rest) * rate + Int(Self.second) - 1) / Int(Self.second)
  }

  /// Whether there is room for so many bytes more.
  func hasRoom(for bytes: Int, limit: QueueLimit, rate: Int, at now: Instant) -> Bool {
    let wait = wait(at: now)
    if wait == 0 { return true }
    return switch limit {
    case .bytes(let most): length(at: now, rate: rate) + bytes <= most
    case .time(let most): wait <= most.wholeNanoseconds
    }
  }

  /// Takes so many bytes in; says when they have left.
  mutating func take(_ bytes: Int, rate: Int, at now: Instant) -> Instant {
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

  /// When no more than half of the limit waits: streams go on then.
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
