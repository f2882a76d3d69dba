/// Finds the longest datagram that a path carries, with packets that may be lost without harm
/// (RFC 8899).
///
/// 1,200 bytes are taken for granted. The longest that the interface sends is tried first, then
/// what common tunnels leave of it. When longer packets stop coming through, 1,200 bytes are the
/// length at once, and the search begins again later.
struct PathMTUSearch: Sendable {
  /// What every path carries (RFC 9000 §14).
  static let base = 1_200
  /// Lengths to try below the longest: Ethernet less PPPoE, tunnels and IPv6's own minimum.
  private static let ladder: [Int] = [1_464, 1_444, 1_424, 1_392, 1_352, 1_312, 1_252, 1_232]
  /// How often a length is tried (RFC 8899 §5.1.4 says 3); loss at random should not decide.
  private static let attempts = 4
  /// After a search, nanoseconds to the next for something longer (RFC 8899 §5.1.1).
  private static let raisePause: Int64 = 600_000_000_000
  /// After a black hole; it doubles up to `raisePause`.
  private static let blackHolePause: Int64 = 5_000_000_000
  /// Longer packets in a row that were lost while none came through.
  private static let suspicion = 6

  /// The longest datagram that surely comes through, UDP payload bytes.
  private(set) var size = base
  private let maximum: Int
  private var candidate: Int?
  private var failures = 0
  private var nextProbe: Int64
  /// A probe is on its way.
  private var isProbing = false
  private var lostInRow = 0
  /// When the newest longer packet left that came through.
  private var newestThrough: Int64 = 0
  private var pause = blackHolePause

  init(maximum: Int, at now: Int64) {
    self.maximum = max(maximum, Self.base)
    nextProbe = now
    candidate = maximum > Self.base ? maximum : nil
  }

  /// When a probe is due; `nil` while one is on its way, or there is nothing to find.
  var nextTime: Int64? { isProbing || candidate == nil ? nil : nextProbe }

  /// The length of the probe that is due.
  func probe(at now: Int64) -> Int? {
    guard let nextTime, nextTime <= now else { return nil }
    return candidate
  }

  mutating func noteProbeSent() { isProbing = true }

  mutating func noteProbeAcknowledged(_ bytes: Int, at now: Int64) {
    isProbing = false
    lostInRow = 0
    newestThrough = now
    guard bytes > size else { return }
    size = bytes
    failures = 0
    rest(at: now)
  }

  mutating func noteProbeLost(at now: Int64) {
    isProbing = false
    failures += 1
    nextProbe = now
    guard failures >= Self.attempts, let tried = candidate else { return }
    failures = 0
    candidate = Self.ladder.first { $0 < tried && $0 > size }
    if candidate == nil { rest(at: now) }
  }

  private mutating func rest(at now: Int64) {
    candidate = size < maximum ? maximum : nil
    nextProbe = now + Self.raisePause
  }

  // MARK: Black holes

  /// A packet that left at `sent` came.
  mutating func noteAcknowledged(_ bytes: Int, sent: Int64) {
    guard bytes > Self.base else { return }
    lostInRow = 0
    newestThrough = max(newestThrough, sent)
  }

  /// Says whether longer packets have stopped coming through: some in a row, and for longer than
  /// `patience` nanoseconds.
  mutating func noteLost(_ bytes: Int, sent: Int64, patience: Int64, at now: Int64) -> Bool {
    guard bytes > Self.base, size > Self.base else { return false }
    lostInRow += 1
    guard lostInRow >= Self.suspicion, sent - newestThrough > patience else { return false }
    fallBack(at: now)
    return true
  }

  /// Probes remain unanswered: length may be the reason.
  mutating func fallBack(at now: Int64) {
    guard size > Self.base else { return }
    size = Self.base
    lostInRow = 0
    failures = 0
    candidate = maximum
    nextProbe = now + pause
    pause = min(2 * pause, Self.raisePause)
  }
}
