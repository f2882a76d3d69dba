import AirHockey
import CaromCore

extension Summary {
  /// The lateness of ticks and the age of displayed states, in milliseconds.
  struct Timing: Encodable, Equatable {
    /// The median lateness of ticks.
    var tickJitterP50 = 0.0
    /// The 99th percentile of the lateness of ticks.
    var tickJitterP99 = 0.0
    /// The greatest lateness of a tick.
    var tickJitterMost = 0.0
    /// The median age of the displayed states at the time of display.
    var stateAgeP50 = 0.0
    /// The 99th percentile of the age of the displayed states at the time of display.
    var stateAgeP99 = 0.0
  }

  /// How the network affected the match.
  struct Prediction: Encodable, Equatable {
    /// The number of rollbacks; 0 on a host.
    var rollbacks = 0
    /// The maximum number of ticks that a rollback simulated again.
    var deepestRollback = 0
    /// The mean distance by which corrections moved the puck, in millimeters.
    var correctionMean = 0.0
    /// The largest distance by which a correction moved the puck, in millimeters.
    var correctionMost = 0.0
    /// The number of ticks that were delayed because the prediction window was exhausted.
    var stalls = 0
    /// The mean number of ticks by which the displayed state was ahead of the confirmed state.
    var gapMean = 0.0
    /// The largest number of ticks by which the displayed state was ahead of the confirmed state.
    var gapMost = 0
    /// The number of inputs that did not reach the host in time: the client's inputs on a host, the
    /// local inputs on a client.
    var lateInputs = 0
    /// The number of desyncs with the host.
    var desyncs = 0
  }
}

extension Summary.Timing {
  /// Creates the values from the percentiles of both meters.
  init(tickJitter: JitterMeter, stateAge: JitterMeter) {
    tickJitterP50 = Self.milliseconds(tickJitter.percentile(50))
    tickJitterP99 = Self.milliseconds(tickJitter.percentile(99))
    tickJitterMost = Self.milliseconds(tickJitter.most)
    stateAgeP50 = Self.milliseconds(stateAge.percentile(50))
    stateAgeP99 = Self.milliseconds(stateAge.percentile(99))
  }

  /// Takes over what is worse in the values of another table.
  mutating func merge(_ other: Self) {
    tickJitterP50 = max(tickJitterP50, other.tickJitterP50)
    tickJitterP99 = max(tickJitterP99, other.tickJitterP99)
    tickJitterMost = max(tickJitterMost, other.tickJitterMost)
    stateAgeP50 = max(stateAgeP50, other.stateAgeP50)
    stateAgeP99 = max(stateAgeP99, other.stateAgeP99)
  }

  /// Returns a duration in milliseconds, rounded to whole microseconds.
  private static func milliseconds(_ duration: Duration) -> Double {
    (duration.inMilliseconds * 1000).rounded() / 1000
  }
}

extension Summary.Prediction {
  /// Creates the statistics of the network and of the match, of which this side is a host or a
  /// client.
  init(_ network: NetworkMeter, _ role: NetGame.Role, desyncs: Int) {
    let (count, sum, most) = network.corrections
    correctionMean = count == 0 ? 0 : (sum / Double(count) * 1e6).rounded() / 1e3
    correctionMost = (most * 1e6).rounded() / 1e3
    gapMean = (network.gap.mean * 100).rounded() / 100
    gapMost = network.gap.most
    self.desyncs = desyncs
    switch role {
    case .undecided: break
    case .host(let match): lateInputs = match.server.missedInputs(of: 1)
    case .client(let match):
      lateInputs = match.client.overriddenInputs
      guard let statistics = match.client.rollback?.statistics else { return }
      rollbacks = statistics.rollbacks
      deepestRollback = statistics.deepestRollback
      stalls = statistics.stalls
    }
  }
}
