import EchoPeers

/// One echo server under test.
struct EchoSubject {
  let name: String
  let isTCP: Bool
  let port: UInt16
  /// The server's user and system time so far, in nanoseconds.
  let cpu: () async -> UInt64
  let stop: () async -> Void
  /// The results of all rounds; an entry is nil if the round lost messages.
  private(set) var allRounds: [EchoRound?] = []
  /// The results of the rounds that lost no messages.
  var rounds: [EchoRound] { allRounds.compactMap { $0 } }

  init(
    _ name: String, isTCP: Bool, port: UInt16, cpu: @escaping () async -> UInt64,
    stop: @escaping () async -> Void
  ) {
    self.name = name
    self.isTCP = isTCP
    self.port = port
    self.cpu = cpu
    self.stop = stop
  }

  /// Measures one round. A round that lost messages is recorded as nil.
  mutating func measure(paced: Int, windowed: Int) async {
    allRounds.append(await round(paced: paced, windowed: windowed))
  }

  /// Returns the median, over the rounds, of this subject's processor time divided by that of
  /// `other`.
  func ratio(to other: EchoSubject) -> Double {
    median(
      zip(allRounds, other.allRounds).compactMap { ours, theirs in
        guard let ours, let theirs else { return nil }
        return ours.cpu / theirs.cpu
      })
  }

  private func round(paced: Int, windowed: Int) async -> EchoRound? {
    guard echo_paced(port, isTCP, paced, 50_000) == paced else { return nil }
    let (p50, p99) = (echo_percentile(50), echo_percentile(99))
    let before = await cpu()
    let time = echo_windowed(port, isTCP, windowed)
    let after = await cpu()
    guard time > 0 else { return nil }
    return EchoRound(
      p50: Double(p50) / 1000, p99: Double(p99) / 1000,
      rate: Double(windowed) / Double(time) * 1e6,
      cpu: Double(after - before) / Double(windowed) / 1000)
  }
}

/// The results of one round.
struct EchoRound {
  /// Percentiles of the paced round trips, in microseconds.
  var p50, p99: Double
  /// Thousands of messages a second, with a window of messages in flight.
  var rate: Double
  /// The server's processor time for each message, in microseconds, with a window in flight.
  var cpu: Double
}
