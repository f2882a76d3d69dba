import CaromCore

/// Asks the peer for an answer from time to time: quickly at first, to find the clock's offset,
/// then once a second, to find a peer that has gone silent.
struct Pinger: Sendable {
  private let timing: SessionTiming
  private var sent = 0
  private(set) var nextTimeout: Instant?
  private(set) var roundTrip = RoundTrip()

  init(timing: SessionTiming) { self.timing = timing }

  /// The connection is open: the first ping.
  mutating func begin(at now: Instant) -> ControlPacket { ping(at: now) }

  mutating func handleTimeout(at now: Instant) -> ControlPacket? {
    guard let nextTimeout, now >= nextTimeout else { return nil }
    return ping(at: now)
  }

  private mutating func ping(at now: Instant) -> ControlPacket {
    sent += 1
    let interval = sent <= timing.firstPings ? timing.firstPingInterval : timing.pingInterval
    nextTimeout = now.advanced(by: interval)
    return .ping(sent: UInt64(bitPattern: now.nanoseconds))
  }

  /// Takes an answer; one that was never asked for (a time to come, or before the last minute)
  /// is not counted. Says whether it was.
  mutating func handlePong(sent: UInt64, clock: UInt64, at now: Instant) -> Bool {
    let asked = Instant(nanoseconds: Int64(bitPattern: sent))
    guard asked <= now, asked >= now.advanced(by: .seconds(-60)) else { return false }
    let remote = Instant(nanoseconds: Int64(bitPattern: clock))
    roundTrip.add(sent: asked, remote: remote, now: now)
    return true
  }
}
