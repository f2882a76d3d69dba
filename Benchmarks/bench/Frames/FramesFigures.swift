import Carom

/// The results of one run.
struct FramesFigures: Sendable {
  let matches: Int
  let server: FramesServerFigures
  /// The time from the moment the server made each state until the client decoded it.
  let ages: [Duration]

  private var matchTicks: Double { Double(max(1, matches * server.ticks)) }

  var ticksPerSecond: Double { matchTicks / server.seconds }
  var framesPerSecond: Double { Double(ages.count) / server.seconds }
  /// The number of states that were made and did not arrive.
  var lostFrames: Int { max(0, matches * server.ticks - ages.count) }
  /// The fraction of the states made that arrived, from 0 to 1.
  var arrived: Double { Double(ages.count) / matchTicks }
  var bytesDown: Double { Double(server.bytesSent) / matchTicks }
  var bytesUp: Double { Double(server.bytesReceived) / matchTicks }
  var cpuMicroseconds: Double { Double(server.cpuNanoseconds) / 1e3 / matchTicks }
  var allocations: Double { Double(server.allocations) / matchTicks }

  /// Whether the server kept up: it missed no tick, its 99th-percentile lateness is at most half a
  /// tick, and more than 99 percent of the states arrived.
  var isSustained: Bool {
    let half = Duration.seconds(1) / (2 * FramesSetup.hertz)
    return server.lostTicks == 0 && server.lostClients == 0 && arrived > 0.99
      && FramesFigures.percentile(99, of: server.lateness) <= half
  }

  /// Returns the smallest of the samples that at least `percent` percent of the samples do not
  /// exceed.
  static func percentile(_ percent: Int, of samples: [Duration]) -> Duration {
    guard !samples.isEmpty else { return .zero }
    let rank = (samples.count * percent + 99) / 100
    return samples.sorted()[max(rank, 1) - 1]
  }
}
