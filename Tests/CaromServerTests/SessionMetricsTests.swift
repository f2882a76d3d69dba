import CaromCore
import CaromTransport
import MetricsTestKit
import TestClock
import Testing

@testable import CaromProtocol
@testable import CaromServer
@testable import CaromSession

/// The values that `SessionMetrics` reports, as its documentation lists them.
@Suite(.timeLimit(.minutes(1))) struct SessionMetricsTests {
  private let factory = TestMetrics()
  private let metrics: SessionMetrics

  init() { metrics = SessionMetrics(factory: factory) }

  private static func makeStatistics(
    over link: LinkKind?, roundTrip: Duration?, loss: Double, queued: Int
  ) -> PeerStatistics {
    var statistics = PeerStatistics()
    statistics.link = link
    statistics.roundTrip = roundTrip
    statistics.latestRoundTrip = .seconds(9)
    statistics.lossRate = loss
    statistics.bytesQueued = queued
    return statistics
  }

  @Test func `the labels and kinds of the metrics are those of the documentation`() {
    #expect(
      Set(factory.counters.map(\.label)) == [
        "carom.joined", "carom.left", "carom.interrupted", "carom.bytes.sent",
        "carom.bytes.received", "carom.turned.away",
      ])
    let gauges = factory.recorders.filter { !$0.aggregate }.map(\.label)
    #expect(Set(gauges) == ["carom.peers", "carom.queued"])
    #expect(factory.recorders.filter(\.aggregate).map(\.label) == ["carom.loss"])
    #expect(factory.timers.map(\.label) == ["carom.roundtrip"])
  }

  @Test func `each report has the smoothed round trip, the loss and the queue of each peer`()
    throws
  {
    let session = metrics.begin(.init())
    metrics.report(
      [
        Self.makeStatistics(over: .datagram, roundTrip: .microseconds(15), loss: 0.25, queued: 7),
        Self.makeStatistics(over: .stream, roundTrip: .milliseconds(20), loss: 0.5, queued: 100),
        Self.makeStatistics(over: .datagram, roundTrip: nil, loss: 0, queued: 0),
        Self.makeStatistics(over: nil, roundTrip: .nanoseconds(3), loss: 0.75, queued: 1_000),
      ], .init(sent: 0, received: 0), of: session)
    #expect(try factory.expectGauge("carom.peers").values == [4])
    #expect(try factory.expectGauge("carom.queued").values == [1_107])
    #expect(try factory.expectTimer("carom.roundtrip").values == [15_000, 20_000_000, 3])
    #expect(try factory.expectRecorder("carom.loss").values == [0.25, 0])
  }

  @Test func `each event is counted once, under its own label`() async throws {
    await withPeer { peer in
      let session = metrics.begin(.init())
      let events: [PeerEvent] = [
        .joined(peer), .joined(peer), .joined(peer), .left(peer, .left), .left(peer, .timedOut),
        .interrupted(peer), .resumed(peer), .linkChanged(peer, .stream),
        .inputStopped(peer, channel: 1), .inputResumed(peer, channel: 1),
      ]
      for event in events { metrics.count(event, of: session) }
    }
    #expect(try factory.expectCounter("carom.joined").values == [1, 1, 1])
    #expect(try factory.expectCounter("carom.left").values == [1, 1])
    #expect(try factory.expectCounter("carom.interrupted").values == [1])
  }

  @Test func `bytes are counted by session, and gauges are totals of the sessions that report`()
    throws
  {
    let peer = Self.makeStatistics(over: .stream, roundTrip: nil, loss: 0, queued: 10)
    let first = metrics.begin(.init(sent: 100, received: 10, turnedAway: 3))
    let second = metrics.begin(.init())
    metrics.report([peer], .init(sent: 1_100, received: 210, turnedAway: 5), of: first)
    metrics.report([peer, peer], .init(sent: 50, received: 5), of: second)
    metrics.report([peer], .init(sent: 1_600, received: 210, turnedAway: 5), of: first)
    metrics.end(.init(sent: 60, received: 5), of: second)
    metrics.end(.init(sent: 1_607, received: 270, turnedAway: 9), of: first)
    #expect(try factory.expectCounter("carom.bytes.sent").values == [1_000, 50, 500, 10, 7])
    #expect(try factory.expectCounter("carom.bytes.received").values == [200, 5, 0, 0, 60])
    #expect(try factory.expectCounter("carom.turned.away").values == [2, 0, 0, 0, 4])
    #expect(try factory.expectGauge("carom.peers").values == [1, 3, 3, 1, 0])
    #expect(try factory.expectGauge("carom.queued").values == [10, 30, 30, 10, 0])
  }

  @Test func `reports end with their session, although its loop runs on`() async throws {
    try await withNetworkLoop { loop in
      let reporting = try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) {
        session, _ in
        let reporting = Task { await session.report(to: metrics, every: .seconds(3_600)) }
        while try factory.expectGauge("carom.peers").values.isEmpty { try await nextPoll() }
        return (session, reporting)
      }
      await reporting.1.value
      // The reports of a session that has ended are over at once.
      await reporting.0.report(to: metrics, every: .seconds(3_600))
    }
  }

  @Test func `the metrics of one session can be used for the next, and count its bytes too`()
    async throws
  {
    var bytes: [UInt64] = []
    try await withNetworkLoop { loop in
      for _ in 0..<2 {
        try await Session.host(
          as: makePeer("host"), on: [.loopback4], over: .stream, loop: loop
        ) { session, port in
          let reports = try factory.expectGauge("carom.peers").values.count
          let reporting = Task { await session.report(to: metrics, every: .milliseconds(1)) }
          while try factory.expectGauge("carom.peers").values.count == reports {
            try await nextPoll()
          }
          try await Session.join(
            [Endpoint(.loopback4, port: port)], as: makePeer("client"), over: .stream, loop: loop
          ) { _, _ in
            while try factory.expectGauge("carom.peers").lastValue != 1 { try await nextPoll() }
          }
          for await event in session.events { if case .left = event { break } }
          reporting.cancel()
          await reporting.value
          bytes.append(await session.statistics[0].bytesReceived)
        }
      }
    }
    let total = try factory.expectCounter("carom.bytes.received").totalValue
    #expect(bytes.min()! > 0 && total == Int64(bytes[0] + bytes[1]))
    #expect(try factory.expectGauge("carom.peers").lastValue == 0)
  }

  @Test func `events are counted once if a session reports a second time`() async throws {
    try await withNetworkLoop { loop in
      try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) {
        session, port in
        for _ in 0..<2 {
          let reports = try factory.expectGauge("carom.peers").values.count
          let reporting = Task { await session.report(to: metrics, every: .seconds(3_600)) }
          while try factory.expectGauge("carom.peers").values.count == reports {
            try await nextPoll()
          }
          guard reports > 0 else {
            reporting.cancel()
            await reporting.value
            continue
          }
          try await Session.join(
            [Endpoint(.loopback4, port: port)], as: makePeer("client"), loop: loop
          ) { _, _ in }
          for await event in session.events { if case .left = event { break } }
        }
      }
    }
    #expect(try factory.expectCounter("carom.joined").values == [1])
    #expect(try factory.expectCounter("carom.left").values == [1])
  }

  #if os(Linux)
    @Test func `there is one report per interval, and reports that were late are made up for`()
      async throws
    {
      try await withNetworkLoop { loop in
        try await Session.host(as: makePeer("host"), on: [.loopback4], loop: loop) { session, _ in
          try await Task(executorPreference: loop) {
            let clock = StoppedClock(of: loop)
            let reporting = Task(executorPreference: loop) {
              await session.report(to: metrics, every: .seconds(10))
            }
            // The time that passes, and the number of reports then.
            for (time, count) in [
              (.zero, 1), (.seconds(10) - .nanoseconds(1), 1), (.nanoseconds(1), 2),
              (.seconds(35), 5), (.seconds(5) - .nanoseconds(1), 5), (.nanoseconds(1), 6),
            ] as [(Duration, Int)] {
              try await clock.advance(by: time)
              while try factory.expectGauge("carom.peers").values.count < count {
                try await clock.advance(by: .zero)
              }
              #expect(try factory.expectGauge("carom.peers").values.count == count)
            }
            reporting.cancel()
            await reporting.value
          }.value
        }
      }
    }
  #endif
}
