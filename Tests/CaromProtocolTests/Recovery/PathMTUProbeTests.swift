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

    mutating func sendProbe() {
      #expect(flow.nextMTUProbe(at: now) == longest)
      flow.didSend(
        bytes: longest, isAckEliciting: true, records: [], isMTUProbe: true, isAppLimited: true,
        at: now)
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
