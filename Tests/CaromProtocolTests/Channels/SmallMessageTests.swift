import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

#if DEBUG
  private let (seconds, seeds, cases) = (10, 1...1 as ClosedRange<UInt64>, [(0.05, 130, 220)])
#else
  private let (seconds, seeds, cases) = (
    120, 1...4 as ClosedRange<UInt64>, [(0.01, 70, 165), (0.05, 90, 215), (0.1, 120, 235)]
  )
#endif

/// Measures 60 small reliable messages a second over a lossy path with a round trip of 100 ms:
/// their delay and their bytes on the wire.
@Suite struct SmallMessageTests {
  private struct Figures {
    var delays: [Int64] = []
    var bytes = 0
    var probes = 0

    /// The 99th percentile of the delay, in milliseconds.
    var delay: Int { Int(delays.sorted()[delays.count * 99 / 100] / 1_000_000) }
  }

  private func measure(loss: Double) throws -> Figures {
    var figures = Figures()
    for seed in seeds {
      let far = LinkProfile("far", LinkConditions(oneWay: .milliseconds(50), loss: loss))
      var pair = VirtualPair(seed: seed, profile: far, load: .small(ticks: seconds * 60))
      #expect(try pair.runLoad(for: .seconds(seconds + 5)))
      #expect(pair.faults.isEmpty)
      let client = pair.clientPeer
      figures.delays += pair.hostPeer.checker.eventDelays
      figures.bytes += client.bytesSent + DatagramFlow.headers * client.datagramsSent
      figures.probes += try #require(client.connection?.datagram?.flow).statistics.tailProbes
    }
    return figures
  }

  @Test(arguments: cases)
  func `small messages arrive in time and cost few bytes`(loss: Double, delay: Int, wire: Int)
    throws
  {
    let (lossless, figures) = (try measure(loss: 0), try measure(loss: loss))
    #expect(figures.delay <= delay)
    #expect(figures.bytes * 100 <= lossless.bytes * wire, "\(figures.bytes), \(lossless.bytes)")
    #expect(figures.probes <= seconds * seeds.count / 8)
  }

  @Test func `acknowledgements are sent in packets that carry the game's messages anyway`() throws {
    let ticks = 300
    let jittery = LinkConditions(
      oneWay: .milliseconds(10), jitter: .exponential(mean: .milliseconds(3)))
    var pair = VirtualPair(
      seed: 1, profile: LinkProfile("jittery", jittery), load: Load(hertz: 60, ticks: ticks))
    #expect(try pair.runLoad(for: .seconds(10)))
    for peer in [pair.hostPeer, pair.clientPeer] {
      #expect(peer.datagramsSent <= ticks + ticks / 12, "\(peer.datagramsSent)")
    }
  }
}
