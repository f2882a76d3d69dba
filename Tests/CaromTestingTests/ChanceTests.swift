import CaromCore
import CaromTesting
import Testing

/// Statistics of random impairments of datagrams.
@Suite struct ChanceTests {
  @Test(arguments: [0.002, 0.05, 0.2]) func `the loss rate is as configured`(loss: Double) {
    for seed in 0..<3 as Range<UInt64> {
      let flow = Flow(.init(loss: loss), count: Flow.many, seed: seed)
      #expect(isLikely(flow.counters.dropped[.loss], of: Flow.many, at: loss), "seed \(seed)")
      #expect(flow.counters.delivered == flow.arrivals.count)
    }
  }

  @Test func `burst loss has the configured rate and mean length`() {
    let flow = Flow(.burstLoss, count: 2 * Flow.many, seed: 4)
    let lost = flow.counters.dropped[.burst]
    // Losses of adjacent datagrams are correlated, which increases the variance of the count by the
    // factor (1 + r) / (1 - r).
    let likeness = 1 - 1 / 8.0 - 0.05 / (8 * 0.95)
    #expect(
      isLikely(lost, of: 2 * Flow.many, at: 0.05, spread: (1 + likeness) / (1 - likeness)))
    let numbers = flow.arrivals.map(\.number)
    let gaps = zip(numbers, numbers.dropFirst()).map { $1 - $0 - 1 }.filter { $0 > 0 }
    let mean = Double(gaps.reduce(0, +)) / Double(gaps.count)
    #expect((mean - 8).magnitude <= 5 * 7.5 / Double(gaps.count).squareRoot())
    #expect(gaps.contains { $0 > 16 })
  }

  @Test func `duplication has the configured rate and delay`() {
    let conditions = LinkConditions(oneWay: .milliseconds(10)).with {
      $0.duplication = 0.1
      $0.duplicationDelay = .milliseconds(500)
    }
    let flow = Flow(conditions, count: Flow.many)
    #expect(isLikely(flow.counters.duplicated, of: Flow.many, at: 0.1))
    let late = flow.arrivals.map { $0.delay - .milliseconds(10) }.filter { $0 > .zero }
    #expect(late.count == flow.counters.duplicated)
    #expect(late.allSatisfy { $0 <= .milliseconds(500) })
    let mean = late.reduce(.zero, +) / late.count
    #expect((.milliseconds(225) ... .milliseconds(275)).contains(mean))
  }

  @Test func `reordering delays the configured fraction, and nothing else`() {
    let flow = Flow(.reorderStorm, count: Flow.many)
    let late = flow.arrivals.filter { $0.delay > .milliseconds(60) }
    #expect(late.count == flow.counters.reordered)
    #expect(isLikely(late.count, of: Flow.many, at: 0.3))
    let lateness: ClosedRange<Duration> = .milliseconds(90) ... .microseconds(90_100)
    #expect(late.allSatisfy { lateness.contains($0.delay) })
    #expect(flow.arrivals.map(\.number) != (0..<Flow.many).map { $0 })
  }

  @Test func `corruption changes one to four bytes at the configured rate`() {
    var (network, a, b) = makePair(.steady.with { $0.corruption = 0.2 })
    let from = network.bind(a)
    _ = network.bind(b, port: 9)
    let payload = [UInt8](repeating: 0x55, count: 40)
    for _ in 0..<Flow.many { network.send(payload, from: from, to: Endpoint(b.v4, port: 9)) }
    var changes = [0, 0, 0, 0, 0]
    while case .datagram(let datagram, _)? = network.nextEvent() {
      #expect(datagram.payload.count == 40)
      changes[datagram.payload.count { $0 != 0x55 }] += 1
    }
    let corrupted = network.counters(from: a, to: b).corrupted
    #expect(isLikely(corrupted, of: Flow.many, at: 0.2))
    #expect((corrupted - 20...corrupted).contains(changes[1...].reduce(0, +)))
    #expect(changes[1...].allSatisfy { $0 > corrupted / 8 })
  }

  @Test func `uniform jitter is uniformly distributed and preserves the order`() {
    let conditions = LinkConditions(
      oneWay: .milliseconds(20), jitter: .uniform(.milliseconds(10)))
    let apart = Flow(conditions, count: Flow.many, every: .milliseconds(50))
    let delays = apart.arrivals.map(\.delay)
    #expect(delays.allSatisfy { (.milliseconds(10) ... .milliseconds(30)).contains($0) })
    let early = delays.count { $0 < .milliseconds(15) }
    #expect(isLikely(early, of: Flow.many, at: 0.25))
    let close = Flow(conditions, count: 1_000)
    #expect(close.arrivals.map(\.number) == Array(0..<1_000))
    #expect(Set(close.arrivals.map(\.delay)).count > 500)
  }

  @Test func `exponential jitter has the expected mean and tail`() {
    let conditions = LinkConditions(
      oneWay: .milliseconds(5), jitter: .exponential(mean: .milliseconds(3)))
    let flow = Flow(conditions, count: Flow.many, every: .milliseconds(200))
    let waits = flow.arrivals.map { ($0.delay - .milliseconds(5)).inMilliseconds }
    let mean = waits.reduce(0, +) / Double(Flow.many)
    #expect((mean - 3).magnitude < 5 * 3 / Double(Flow.many).squareRoot())
    for (limit, share) in [(3, 0.367_879), (6, 0.135_335), (12, 0.018_316)] {
      let above = waits.count { $0 > Double(limit) }
      #expect(isLikely(above, of: Flow.many, at: share), "over \(limit) ms: \(above)")
    }
  }

  @Test func `the two directions of a link are independent`() {
    var (network, a, b) = makePair()
    network.setConditions(.steady.with { $0.loss = 1 }, from: b, to: a)
    network.setConditions(.init(oneWay: .milliseconds(70)), from: a, to: b)
    let (there, back) = (network.bind(a, port: 9), network.bind(b, port: 9))
    network.send([1], from: there, to: Endpoint(b.v4, port: 9))
    network.send([2], from: back, to: Endpoint(a.v4, port: 9))
    #expect(events(of: &network).map(\.host) == [b.id])
    #expect(network.now == .zero + .milliseconds(70))
    #expect(network.counters(from: b, to: a).dropped[.loss] == 1)
    #expect(network.counters(from: a, to: b).dropped.total == 0)
  }

  @Test func `traffic on one link does not affect another link`() {
    let quiet = makeTriangle(isBusy: false)
    let busy = makeTriangle(isBusy: true)
    #expect(!quiet.isEmpty && quiet.count < 500)
    #expect(quiet == busy)
  }

  /// Returns the arrival times of datagrams between two hosts, with or without other traffic.
  private func makeTriangle(isBusy: Bool) -> [Instant] {
    var network = VirtualNetwork(seed: 8, conditions: .mobile)
    let hosts = [network.addHost(), network.addHost(), network.addHost()]
    let sockets = hosts.map { network.bind($0, port: 9) }
    var times: [Instant] = []
    for _ in 0..<500 {
      if isBusy { network.send([0], from: sockets[2], to: Endpoint(hosts[1].v4, port: 9)) }
      network.send([1], from: sockets[0], to: Endpoint(hosts[1].v4, port: 9))
    }
    while case .datagram(let datagram, _)? = network.nextEvent() {
      if datagram.payload == [1] { times.append(network.now) }
    }
    return times
  }
}
