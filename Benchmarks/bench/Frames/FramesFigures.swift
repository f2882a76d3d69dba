import Carom

/// What a run came to.
struct FramesFigures: Sendable {
  let matches: Int
  let server: FramesServerFigures
  /// How old each state was when it was decoded on the other side.
  let ages: [Duration]

  private var matchTicks: Double { Double(max(1, matches * server.ticks)) }

  var ticksPerSecond: Double { matchTicks / server.seconds }
  var framesPerSecond: Double { Double(ages.count) / server.seconds }
  /// Of the states that were made, those that arrived.
  var arrived: Double { Double(ages.count) / matchTicks }
  var bytesDown: Double { Double(server.bytesSent) / matchTicks }
  var bytesUp: Double { Double(server.bytesReceived) / matchTicks }
  var cpuMicroseconds: Double { Double(server.cpuNanoseconds) / 1e3 / matchTicks }
  var allocations: Double { Double(server.allocations) / matchTicks }

  /// The server kept up: p99 lateness within half a tick, no tick lost, the states arrive.
  var isSustained: Bool {
    let half = Duration.seconds(1) / (2 * FramesSetup.hertz)
    return server.lostTicks == 0 && arrived > 0.99
      && FramesFigures.percentile(99, of: server.lateness) <= half
  }

  /// The smallest duration that `percent` of all do not exceed.
  static func percentile(_ percent: Int, of samples: [Duration]) -> Duration {
    guard !samples.isEmpty else { return .zero }
    let rank = (samples.count * percent + 99) / 100
    return samples.sorted()[max(rank, 1) - 1]
  }
}
