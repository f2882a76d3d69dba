import CaromCore
import Testing

@testable import CaromProtocol

/// Acknowledgements of path MTU probes that arrive late.
@Suite struct PathMTUProbeTests {
  private static let longest = 1_472

  /// A flow that has measured its round trip of 100 ms and then sent a probe, its packet 1.
  private struct Bench {
    var flow = DatagramFlow(maximumPayload: longest, at: .zero)
    var now = Instant.zero

    init() {
      send()
      acknowledge(0...0, after: .milliseconds(100))
      sendProbe()
    }

    mutating func send(_ count: Int = 1) {
      for _ in 0..<count {
        flow.didSend(bytes: 1_000, isAckEliciting: true, records: [], isAppLimited: true, at: now)
      }
    }

    mutating func sendProbe(_ length: Int = longest) {
      #expect(flow.nextMTUProbe(at: now) == length)
      flow.didSend(
        bytes: length, isAckEliciting: true, records: [], isMTUProbe: true, isAppLimited: true,
        at: now)
    }

    /// Sends packets that arrive, unlike the probe before them.
    mutating func loseProbe() {
      let next = flow.nextNumber
      send(3)
      acknowledge(next...next + 2, after: .milliseconds(100))
    }

    mutating func handleTimeout() throws {
      let timeout = flow.findTimeout()
      now = try #require(timeout)
      var lost: [FrameRecord] = []
      if flow.handleTimeout(at: now, lost: &lost) { send() }
    }

    mutating func acknowledge(_ range: ClosedRange<UInt64>, after delay: Duration) {
      now = now.advanced(by: delay)
      var (acknowledged, lost): ([FrameRecord], [FrameRecord]) = ([], [])
      var ranges = AcknowledgedRanges()
      ranges.append(range)
      _ = flow.handle(
        ranges, ackDelay: 0, at: now, acknowledged: &acknowledged, lost: &lost)
    }
  }

  /// RFC 8899, section 4.3: the next search follows a delay, whatever becomes of older probes.
  @Test(arguments: [(true, false), (false, true), (true, true)])
  func `a probe that was in flight when a black hole was found proves nothing`(
    isLost: Bool, arrives: Bool
  ) throws {
    var bench = Bench()
    bench.loseProbe()
    for _ in 0..<3 {
      bench.sendProbe()
      bench.loseProbe()
    }
    bench.sendProbe(1_464)
    let found = bench.flow.nextNumber - 1
    bench.acknowledge(found...found, after: .milliseconds(100))
    #expect(bench.flow.packetSize == 1_464)
    bench.now = bench.now.advanced(by: .seconds(600))
    bench.sendProbe()
    let probe = bench.flow.nextNumber - 1
    while bench.flow.statistics.blackHoles == 0 { try bench.handleTimeout() }
    let next = bench.now.advanced(by: .seconds(5))
    if isLost { bench.loseProbe() }
    if arrives { bench.acknowledge(probe...probe, after: .milliseconds(10)) }
    #expect(bench.flow.packetSize == PathMTUSearch.base)
    #expect(bench.flow.nextMTUProbe(at: next.advanced(by: .nanoseconds(-1))) == nil)
    #expect(bench.flow.nextMTUProbe(at: next) == Self.longest)
  }

  @Test func `a probe that arrives after it was declared lost counts for the window too`() {
    var bench = Bench()
    bench.send(3)
    bench.acknowledge(2...4, after: .milliseconds(100))
    #expect(bench.flow.statistics.packetsLost == 1)
    bench.acknowledge(1...4, after: .milliseconds(50))
    #expect(bench.flow.statistics.spuriousLosses == 1)
    #expect(bench.flow.packetSize == Self.longest)
    #expect(bench.flow.congestion.packetSize == Self.longest)
  }

  @Test func `a probe of an old path proves nothing about the new one`() {
    var bench = Bench()
    bench.flow.resetPath(at: bench.now)
    bench.acknowledge(1...1, after: .milliseconds(100))
    #expect(bench.flow.packetSize == PathMTUSearch.base)
    var late = Bench()
    late.send(3)
    late.acknowledge(2...4, after: .milliseconds(100))
    late.flow.resetPath(at: late.now)
    late.acknowledge(1...4, after: .milliseconds(50))
    #expect(late.flow.statistics.spuriousLosses == 1)
    #expect(late.flow.packetSize == PathMTUSearch.base)
  }

  @Test func `the loss of a probe of an old path does not end the probe of the new one`() {
    var bench = Bench()
    bench.flow.resetPath(at: bench.now)
    bench.send()
    bench.acknowledge(2...2, after: .milliseconds(100))
    bench.sendProbe()
    bench.send()
    bench.acknowledge(4...4, after: .milliseconds(100))
    #expect(bench.flow.statistics.packetsLost == 1)
    #expect(bench.flow.nextMTUProbe(at: bench.now) == nil)
  }
}
