import CaromCore

/// Schedules the pings to a peer and measures their round-trip times. The first pings follow each
/// other quickly, to measure the clock offset. Later pings, one per second by default, detect a
/// peer that has gone silent. For that, one side's pings are enough, because the other side hears
/// them: while pings arrive, the responder sends its own less often.
struct Pinger: Sendable {
  /// The interval between a responder's pings while pings arrive, in ping intervals.
  private static let restingIntervals = 4
  /// The time that a responder waits for the next ping before it sends one itself, in quarters of
  /// the ping interval.
  private static let patienceQuarters = 5
  /// The maximum time between a ping and its answer. A later answer is ignored.
  private static let longestRoundTrip = Duration.seconds(60)

  private(set) var nextTimeout: Instant?
  private var sent = 0
  private var lastSent = Instant.zero
  private(set) var roundTrip = RoundTrip()

  /// Returns the next ping, or nil if no ping is due.
  mutating func handleTimeout(_ timing: SessionTiming, at now: Instant) -> ControlPacket? {
    guard let nextTimeout, now >= nextTimeout else { return nil }
    return makePing(timing, at: now)
  }

  /// Returns the next ping, and schedules the one after it. The first call starts the schedule.
  mutating func makePing(_ timing: SessionTiming, at now: Instant) -> ControlPacket {
    sent += 1
    let interval = sent <= timing.firstPings ? timing.firstPingInterval : timing.pingInterval
    nextTimeout = now.advanced(by: interval)
    lastSent = now
    return .ping(sent: UInt64(bitPattern: now.nanoseconds))
  }

  /// Postpones the next ping of a responder, whose peer has just sent one.
  mutating func rest(_ timing: SessionTiming, at now: Instant) {
    guard sent > timing.firstPings else { return }
    nextTimeout = min(
      lastSent.advanced(by: timing.pingInterval * Self.restingIntervals),
      now.advanced(by: timing.pingInterval * Self.patienceQuarters / 4))
  }

  /// Updates the measurements with the answer to a ping. Returns `false` if the answer is ignored
  /// because `sent`, which the peer echoes, is in the future or more than a minute ago.
  mutating func handlePong(sent: UInt64, clock: UInt64, at now: Instant) -> Bool {
    let asked = Instant(nanoseconds: Int64(bitPattern: sent))
    guard asked <= now, asked >= now.advanced(by: .zero - Self.longestRoundTrip) else {
      return false
    }
    let remote = Instant(nanoseconds: Int64(bitPattern: clock))
    roundTrip.add(sent: asked, remote: remote, now: now)
    return true
  }
}
