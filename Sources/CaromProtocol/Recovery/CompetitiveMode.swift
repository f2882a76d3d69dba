#if !arch(wasm32)
  /// The congestion window while competing traffic, such as a TCP download, keeps the queue full.
  /// It grows as the window of that traffic does (CUBIC, RFC 9438), so that both flows get about
  /// the same share. Times are in nanoseconds.
  struct CompetitiveMode: Sendable {
    /// The minimum time before the first check of whether the competing traffic has ended: 2 s.
    static let shortestCheckInterval: Int64 = 2_000_000_000
    /// The maximum interval between checks: 8 s. The interval doubles after each check, up to this
    /// value.
    static let longestCheckInterval: Int64 = 8_000_000_000
    /// The fraction of the window that remains after a loss (RFC 9438 §4.6).
    private static let reduction = 0.7
    /// The constant C of CUBIC, in packets per second cubed (RFC 9438 §4.1).
    private static let cubicGrowth = 0.4
    /// The minimum growth of the window in packets per round trip: the growth of a Reno window with
    /// the same reduction.
    private static let renoGrowth = 0.53
    /// The fraction of the acknowledged bytes by which the window grows until the first loss.
    private static let initialGrowth = 0.1

    /// The congestion window, in bytes.
    private(set) var window: Double
    /// The size, in packets, towards which the window grows back after a loss: the size of the
    /// window at that loss, or less if the window had not yet reached the previous plateau
    /// (RFC 9438 §4.7).
    private var plateau: Double
    /// The window directly after the most recent loss, in packets.
    private var start: Double
    /// The time of the most recent loss, or of the beginning of competitive mode before the first
    /// loss, in nanoseconds.
    private var epoch: Int64
    /// The number of seconds from `epoch` until the window reaches `plateau` again.
    private var rise = 0.0
    /// Whether a packet was lost in competitive mode. Before the first loss, the fair share is
    /// unknown.
    private var hasLost = false
    /// The time at which to check next whether the competing traffic has ended, in nanoseconds.
    private var nextCheck: Int64
    private var checkInterval: Int64

    init(window: Double, packetSize: Int, checkInterval: Int64, at now: Int64) {
      self.window = window
      plateau = window / Double(packetSize)
      start = plateau
      epoch = now
      self.checkInterval = checkInterval
      nextCheck = now + checkInterval
    }

    mutating func grow(acknowledged: Int, roundTrip: Int64, packetSize: Int, at now: Int64) {
      guard hasLost else { return window += Self.initialGrowth * Double(acknowledged) }
      let age = Double(now - epoch + roundTrip) / 1e9
      let time = age - rise
      let cubic = plateau + Self.cubicGrowth * time * time * time
      let reno = start + Self.renoGrowth * age * 1e9 / Double(max(roundTrip, 1))
      let target = max(cubic, reno) * Double(packetSize)
      guard target > window else { return }
      window += (min(target, 1.5 * window) - window) * Double(acknowledged) / window
    }

    mutating func reduce(packetSize: Int, at now: Int64) {
      hasLost = true
      let packets = window / Double(packetSize)
      plateau = packets < plateau ? packets * (1 + Self.reduction) / 2 : packets
      start = packets * Self.reduction
      window = max(window * Self.reduction, Double(2 * packetSize))
      epoch = now
      rise = Self.cubeRoot((plateau - start) / Self.cubicGrowth)
    }

    func isCheckDue(at now: Int64) -> Bool { now >= nextCheck }

    /// Doubles the interval between checks, up to `longestCheckInterval`, and schedules the next
    /// check that long after `now`.
    mutating func scheduleCheck(after now: Int64) {
      checkInterval = min(2 * checkInterval, Self.longestCheckInterval)
      nextCheck = now + checkInterval
    }

    /// Returns the cube root of `value`, computed by Newton's method: this module imports no
    /// platform library that has `cbrt`.
    private static func cubeRoot(_ value: Double) -> Double {
      guard value > 0 else { return 0 }
      var root = max(1, value)
      for _ in 0..<64 { root = (2 * root + value / (root * root)) / 3 }
      return root
    }
  }
#endif
