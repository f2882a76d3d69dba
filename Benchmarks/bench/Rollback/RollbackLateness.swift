import Carom
import CaromTransport

/// Runs the fixed step against the real clock.
enum RollbackLateness {
  /// Measures the 99th percentile of the lateness with which ticks are reported, in milliseconds.
  static func measure(seconds: Int) async -> Double {
    let late = await withNetworkLoop(name: "steps") { loop in
      await collect(60 * seconds, on: loop)
    }
    guard !late.isEmpty else { return .nan }
    return late.sorted()[late.count * 99 / 100]
  }

  private static func collect(_ count: Int, on loop: NetworkLoop) async -> [Double] {
    var late: [Double] = []
    for await step in FixedStep(hertz: 60, on: loop) {
      late.append(step.lateness.inMilliseconds)
      if late.count == count { break }
    }
    return late
  }
}
