import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What a loop's thread has had to do since it began.
package struct LoopLoad: Hashable, Sendable {
  /// The number of ticks of the loop's tickers that were due.
  package var ticks: UInt64 = 0
  /// The number of those that were still waiting when the next one was due.
  package var lateTicks: UInt64 = 0
  /// The processor time that the thread has used.
  package var processorTime = Duration.zero

  package init() {}
}

extension NetworkLoop {
  /// The load of the loop, which must be read on its thread. On a simulated loop, no processor time
  /// passes.
  package var load: LoopLoad {
    preconditionCurrent("the load")
    var load = core.load
    guard core.system == nil else { return load }
    var time = timespec()
    if unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 {
      load.processorTime = .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    return load
  }
}
