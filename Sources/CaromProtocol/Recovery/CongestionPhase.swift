/// The phase of a congestion controller.
enum CongestionPhase: Sendable {
  /// The search for the path's bandwidth that begins a flow.
  struct Startup: Sendable {
    /// The bandwidth at its last growth by a quarter or more, bytes a second.
    var bandwidth = 0.0
    /// The number of rounds since the bandwidth last grew by a quarter.
    var stagnantRounds = 0
  }

  /// A time with few bytes in flight that measures the round trip without a queue.
  struct RoundTripProbe: Sendable {
    /// The time at which the probe began, in nanoseconds.
    var start: Int64
    /// The probe may end at the end of this round.
    var round: Int
    /// Whether the startup begins again afterwards, since it had not found any bandwidth.
    var resumesStartup: Bool
  }

  /// Nearly triples the rate each round trip until the path delivers no more.
  case startup(Startup)
  /// Lets the queue of the startup drain.
  case drain
  /// Sends at the estimated bandwidth, until the given round at least.
  case cruise(until: Int)
  /// Probes for more bandwidth, since the given round.
  case up(since: Int)
  /// Drains a queue, since the given round: the queue of a bandwidth probe or one that built up
  /// while cruising.
  case down(since: Int, followsProbe: Bool)
  /// Keeps few bytes in flight, to measure the round trip without a queue.
  case probeRoundTrip(RoundTripProbe)
  /// Shares the path with traffic that fills the queue. `resumesStartup` is kept from a round-trip
  /// probe that found such traffic, for the next probe.
  case compete(resumesStartup: Bool)

  var isStartup: Bool {
    if case .startup = self { return true }
    return false
  }
}
