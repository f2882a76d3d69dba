import CaromCore
import CaromTesting
import Testing

/// Rate, queues and packet lengths.
@Suite struct RateTests {
  /// A link that carries a payload of 1,200 bytes, which has 1,228 on the wire, in 10 ms.
  let slow = LinkConditions(oneWay: .milliseconds(5), rate: 122_800)

  @Test func `a rate spaces datagrams by their length with headers`() {
    let flow = Flow(slow, count: 10, every: .microseconds(1), size: 1_200)
    let times = (1...10).map { Instant.zero + .milliseconds(5 + 10 * $0) }
    #expect(flow.arrivals.map(\.time) == times)
    #expect(flow.counters.bytesSent == 12_280)
    #expect(flow.counters.bytesDelivered == 12_280)
  }

  @Test func `IPv6 has longer headers, and each fragment has a header`() {
    #expect(Flow(.steady, count: 1, size: 1_200, isV6: true).counters.bytesSent == 1_248)
    #expect(Flow(.steady, count: 1, size: 1_472).counters.bytesSent == 1_500)
    #expect(Flow(.steady, count: 1, size: 1_473).counters.bytesSent == 1_521)
    #expect(Flow(.steady, count: 1, size: 1_473, isV6: true).counters.bytesSent == 1_577)
  }

  @Test func `rounding does not change a rate`() {
    let flow = Flow(
      .init(oneWay: .zero, rate: 3_000_000).with { $0.queue = .bytes(1 << 30) }, count: 3_000,
      every: .zero, size: 72)
    #expect(flow.arrivals.last?.time == .zero + .milliseconds(100))
  }

  @Test func `a queue limited in bytes never exceeds its limit`() {
    let flow = Flow(
      slow.with { $0.queue = .bytes(10_000) }, count: 500, every: .milliseconds(2), size: 1_200)
    #expect(flow.counters.longestQueue <= 10_000)
    #expect(flow.counters.longestQueue > 8_000)
    #expect(flow.counters.dropped[.queue] == 500 - flow.counters.delivered)
    // One second at 100 datagrams per second, and those in the queue at its end.
    #expect((100...108).contains(flow.counters.delivered))
  }

  @Test func `a queue limited in time never delays a datagram longer`() {
    let flow = Flow(
      slow.with { $0.queue = .time(.milliseconds(80)) }, count: 500, every: .milliseconds(2),
      size: 1_200)
    let longest = flow.arrivals.map(\.delay).max() ?? .zero
    #expect(longest <= .milliseconds(5 + 80 + 10))
    #expect(longest > .milliseconds(5 + 80))
    #expect(flow.counters.dropped[.queue] > 350)
  }

  @Test func `a full queue drops at the tail, and an empty queue accepts any datagram`() {
    var (network, a, b) = makePair(slow.with { $0.queue = .bytes(1_300) })
    let from = network.bind(a)
    _ = network.bind(b, port: 9)
    for number in 0..<3 {
      network.send(Flow.payload(number, size: 1_400), from: from, to: Endpoint(b.v4, port: 9))
    }
    #expect(network.queueLength(from: a, to: b) == 1_428)
    guard case .datagram(let first, _)? = network.nextEvent() else {
      Issue.record("nothing came")
      return
    }
    #expect(first.payload.prefix(4) == [0, 0, 0, 0])
    #expect(network.nextEvent() == nil)
    #expect(network.queueLength(from: a, to: b) == 0)
  }

  @Test func `lost datagrams use bandwidth`() {
    let flow = Flow(
      slow.with { $0.loss = 0.5 }, count: 100, every: .milliseconds(20), size: 1_200)
    #expect(flow.arrivals.allSatisfy { $0.delay == .milliseconds(15) })
    #expect(flow.counters.bytesSent == 122_800)
  }

  @Test func `the queue history records the queue over time`() throws {
    let flow = Flow(.bufferbloat, count: 2_000, every: .milliseconds(1), size: 972)
    let history = flow.network.queueHistory(from: flow.a, to: flow.b)
    #expect(history.peak == flow.counters.longestQueue)
    // Sending for half a second at four times the rate fills a queue of two seconds.
    let full = try #require(history.samples.first { $0.bytes >= 499_000 })
    #expect((660...680).contains((full.time - .zero).inMilliseconds))
    #expect(zip(history.samples, history.samples.dropFirst()).allSatisfy { $0.time < $1.time })
  }

  @Test func `a long queue history becomes coarser without losing peaks`() {
    let flow = Flow(
      .init(oneWay: .zero, rate: 1_000_000), count: 10_000, every: .milliseconds(7), size: 72)
    let history = flow.network.queueHistory(from: flow.a, to: flow.b)
    #expect(history.samples.count <= QueueHistory.limit)
    #expect(history.samples.count > QueueHistory.limit / 3)
    #expect(history.interval > .milliseconds(7))
    #expect(history.samples.allSatisfy { $0.bytes == 100 })
  }

  @Test func `a packet over the MTU is dropped, and the MTU can change`() {
    let flow = Flow(.shrinkingMTU.with { $0.loss = 0 }, count: 150, every: .milliseconds(100))
    #expect(flow.counters.dropped.total == 0)
    for (size, last) in [(1_473, -1), (1_472, 49), (1_252, 99), (1_200, 149)] {
      let flow = Flow(
        .shrinkingMTU.with { $0.loss = 0 }, count: 150, every: .milliseconds(100), size: size)
      #expect(flow.arrivals.last?.number ?? -1 == last, "\(size) bytes")
      #expect(flow.counters.dropped[.tooLong] == 149 - last)
    }
  }

  @Test func `IPv6 carries packets of 1,280 bytes with any MTU`() {
    let narrow = LinkConditions.steady.with { $0.mtu = 600 }
    #expect(Flow(narrow, count: 1, size: 1_232, isV6: true).arrivals.count == 1)
    #expect(Flow(narrow, count: 1, size: 1_233, isV6: true).arrivals.count == 0)
    #expect(Flow(narrow, count: 1, size: 572).arrivals.count == 1)
    #expect(Flow(narrow, count: 1, size: 573).arrivals.count == 0)
  }
}
