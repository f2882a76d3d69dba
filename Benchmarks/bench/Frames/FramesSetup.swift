import Carom

/// The parameters of one run of `bench frames`.
struct FramesSetup: Sendable {
  static let hertz = 60
  /// Ticks before the measured ones. The first pings of each connection fall into this time.
  static let warmUpTicks = 75

  var matches: Int
  /// The number of measured ticks.
  var ticks: Int
  /// The number of entities in each world of the `entities` simulation.
  var entities = 100
  var carrier = FramesCarrier.session
  var pace = Pace.hertz

  /// The trigger of each server tick.
  enum Pace: Sendable {
    /// The clock, 60 times a second.
    case hertz
    /// The arrival of the last client's input for the previous tick. No pings are sent, so the cost
    /// of a tick is the same in every run and can be compared with a threshold.
    case lockstep
  }

  var timing: SessionTiming {
    var timing = SessionTiming()
    guard pace == .lockstep else { return timing }
    timing.firstPingInterval = .seconds(3600)
    timing.silenceLimit = .seconds(3600)
    return timing
  }
}
