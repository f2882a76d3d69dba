#if os(Linux)
  import CSystemCalls
  import CaromCore
  import CaromTransport

  /// The stopped clock of a loop's thread. The loop's timers expire only when the clock is
  /// advanced, and so at an exact time.
  public struct StoppedClock: Sendable {
    private let loop: NetworkLoop

    /// Stops the clock of the current thread, which has to be that of `loop`, for good.
    public init(of loop: NetworkLoop) {
      loop.preconditionCurrent("a clock")
      self.loop = loop
      sc_stop_clock()
    }

    /// Advances the clock. Returns after all timers that are then due have fired.
    public func advance(by duration: Duration) async throws {
      skip(duration)
      // A deadline before all others makes the loop look for due timers.
      try await loop.sleep(until: .zero)
    }

    /// Advances the clock while the loop stands still. Due timers fire when the loop next looks for
    /// them.
    public func skip(_ duration: Duration) {
      loop.preconditionCurrent("a clock")
      sc_advance_clock(duration.wholeNanoseconds)
    }
  }
#endif
