/// The phase of a congestion controller.
enum CongestionPhase: Sendable {
  /// The state of startup, the search for the path's bandwidth at the beginning of a flow.
  struct Startup: Sendable {
    /// The bandwidth when it last grew by a quarter or more, in bytes per second.
    var bandwidth = 0.0
    /// The number of rounds since the bandwidth last grew by a quarter or more.
    var stagnantRounds = 0
  }

  /// The state of a round-trip probe, which keeps at most half of the bandwidth-delay product in
  /// flight (but at least four packets), so that the round-trip time is measured without queueing
  /// delay.
  struct RoundTripProbe: Sendable {
    /// The time at which the probe began, in nanoseconds.
    var start: Int64
    /// The round that must end before the probe may end.
    var round: Int
    /// Whether startup continues after the probe, because it had not yet found the path's bandwidth
    /// when the probe began.
    var resumesStartup: Bool
  }

  /// Nearly triples the rate in each round trip until the path delivers no more.
  case startup(Startup)
  /// Sends at half the estimated bandwidth until the queue that startup left behind has drained.
  case drain
  /// Sends at the estimated bandwidth, at least until the given round.
  case cruise(until: Int)
  /// Probes for more bandwidth. The phase began in the given round.
  case up(since: Int)
  /// Drains a queue that a bandwidth probe left behind (`followsProbe`) or that built up while
  /// cruising. The phase began in the given round.
  case down(since: Int, followsProbe: Bool)
  /// Lets the queue drain, to measure the round-trip time without queueing delay.
  case probeRoundTrip(RoundTripProbe)
  /// Shares the path with other traffic that keeps the queue full.
  case compete

  var isStartup: Bool {
    if case .startup = self { return true }
    return false
  }
}
