import Carom

/// One run of `bench frames`.
struct FramesSetup: Sendable {
  static let hertz = 60
  /// Ticks before those that count: the first pings of a connection are over by then.
  static let warmUpTicks = 75

  var matches: Int
  /// Ticks that count.
  var ticks: Int
  /// Entities in each world that is not hockey.
  var entities = 100
  var carrier = FramesCarrier.session
  var pace = Pace.hertz

  /// What makes the server tick.
  enum Pace: Sendable {
    /// The clock, 60 times a second.
    case hertz
    /// The last of the inputs that answer the last tick's states; nobody pings. What a tick costs
    /// is the same in every run then, and can be held to a limit.
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
