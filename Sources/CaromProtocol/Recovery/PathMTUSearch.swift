#if !arch(wasm32)
  /// Finds the longest datagram that a path carries, by sending probes whose loss does no harm (RFC
  /// 8899).
  ///
  /// Every path is assumed to carry 1,200 bytes, or its maximum if that is less. The longest
  /// datagram that the interface can send is tried first, then the lengths that fit inside common
  /// tunnels. When longer packets no longer arrive, the size falls back to 1,200 bytes immediately,
  /// and the search starts again later. Lengths are in bytes of UDP payload, without the bytes that
  /// a proxy in front of the peer needs, and times in nanoseconds.
  struct PathMTUSearch: Sendable {
    /// The length in bytes that every path carries (RFC 9000 §14).
    static let base = 1_200
    /// The lengths to try after the maximum, in bytes. They are what remains of an Ethernet frame
    /// inside PPPoE and common tunnels, down to the minimum MTU of IPv6.
    private static let ladder: [Int] = [1_464, 1_444, 1_424, 1_392, 1_352, 1_312, 1_252, 1_232]
    /// The number of lost probes of one length after which that length is considered too long. RFC
    /// 8899 §5.1.2 says 3; a fourth probe makes it less likely that the result is due to random
    /// loss.
    private static let attempts = 4
    /// The time from the end of a search to the next search (RFC 8899 §5.1.1): 10 min.
    private static let raiseInterval: Int64 = 600_000_000_000
    /// The initial value of `searchDelay`, the time from a black hole to the next search: 5 s. Each
    /// black hole doubles the delay, up to `raiseInterval`.
    private static let blackHoleInterval: Int64 = 5_000_000_000
    /// The number of consecutive losses of packets longer than `base`, with none acknowledged in
    /// between, that indicates a black hole.
    private static let blackHoleThreshold = 6

    private let maximum: Int
    /// The length in bytes that this path carries without a search.
    private var base: Int { min(maximum, Self.base) }
    private var failures: Int32 = 0
    /// The number of consecutive losses of packets longer than `base`.
    private var consecutiveLosses: Int32 = 0
    /// The latest send time of an acknowledged packet that is longer than `base`, in nanoseconds.
    private var newestAcknowledged: Int64 = 0
    private var searchDelay = blackHoleInterval
    /// The length to try next, in bytes; nil if no greater length is left to try.
    private var candidate: Int?
    /// Whether a probe is in flight.
    private var isProbing = false
    /// The number of bytes that are added to each datagram on its way, at most 32.
    let overhead: UInt8
    private var nextProbe: Int64
    /// The greatest length that is known to arrive, in bytes.
    private(set) var size: Int

    init(maximum: Int, overhead: UInt8 = 0, at now: Int64) {
      self.maximum = maximum
      size = min(maximum, Self.base)
      self.overhead = overhead
      nextProbe = now
      candidate = maximum > base ? maximum : nil
    }

    /// Returns the length in bytes of the probe that is due, or nil if none is due.
    func probe(at now: Int64) -> Int? {
      guard !isProbing, let candidate, nextProbe <= now else { return nil }
      return candidate
    }

    mutating func recordProbeSent() { isProbing = true }

    mutating func recordProbeAcknowledged(_ bytes: Int, at now: Int64) {
      isProbing = false
      consecutiveLosses = 0
      newestAcknowledged = now
      guard bytes > size else { return }
      size = bytes
      failures = 0
      endSearch(at: now)
    }

    mutating func recordProbeLost(at now: Int64) {
      isProbing = false
      failures += 1
      nextProbe = now
      guard failures >= Self.attempts, let tried = candidate else { return }
      failures = 0
      let overhead = Int(overhead)
      candidate = Self.ladder.first { $0 - overhead < tried && $0 - overhead > size }
        .map { $0 - overhead }
      if candidate == nil { endSearch(at: now) }
    }

    private mutating func endSearch(at now: Int64) {
      candidate = size < maximum ? maximum : nil
      nextProbe = now + Self.raiseInterval
    }

    // MARK: Black holes

    /// Records that a packet of `bytes` bytes, sent at `sent`, was acknowledged.
    mutating func recordAcknowledged(_ bytes: Int, sent: Int64) {
      guard bytes > base else { return }
      consecutiveLosses = 0
      newestAcknowledged = max(newestAcknowledged, sent)
    }

    /// Records the loss of a packet of `bytes` bytes that was sent at `sent`. Falls back to 1,200
    /// bytes and returns true if the loss indicates a black hole: several consecutive packets
    /// longer than 1,200 bytes were lost, and this one was sent more than `patience` nanoseconds
    /// after the last packet of more than 1,200 bytes that was acknowledged.
    mutating func recordLost(_ bytes: Int, sent: Int64, patience: Int64, at now: Int64) -> Bool {
      guard bytes > base, size > base else { return false }
      consecutiveLosses += 1
      guard consecutiveLosses >= Self.blackHoleThreshold, sent - newestAcknowledged > patience
      else { return false }
      fallBack(at: now)
      return true
    }

    /// Falls back to 1,200 bytes and schedules the next search. The owner ignores what becomes of
    /// the probe in flight, if there is one.
    mutating func fallBack(at now: Int64) {
      guard size > base else { return }
      size = base
      isProbing = false
      consecutiveLosses = 0
      failures = 0
      candidate = maximum
      nextProbe = now + searchDelay
      searchDelay = min(2 * searchDelay, Self.raiseInterval)
    }
  }
#endif
