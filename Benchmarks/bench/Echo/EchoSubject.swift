import EchoPeers

/// An echo under test: where it listens, and what it costs.
struct EchoSubject {
  let name: String
  let isTCP: Bool
  let port: UInt16
  /// User plus system time so far, nanoseconds.
  let cpu: () async -> UInt64
  let stop: () async -> Void
  /// One entry a round; nil where messages were lost.
  private(set) var allRounds: [EchoRound?] = []
  /// The rounds that count.
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

  /// Measures one round; a round that lost messages does not count.
  mutating func measure(paced: Int, windowed: Int) async {
    allRounds.append(await round(paced: paced, windowed: windowed))
  }

  /// The median over the rounds of our cost by `other`'s.
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

/// What one round found.
struct EchoRound {
  /// Paced round trips, microseconds.
  var p50, p99: Double
  /// Thousand messages a second with a window of them under way.
  var rate: Double
  /// The server's microseconds a message, window under way.
  var cpu: Double
}
