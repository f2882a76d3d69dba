import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

#if DEBUG
  private let (seconds, cases) = (10, [(0.05, Int64(130), 210)])
#else
  private let (seconds, cases) = (
    120, [(0.01, Int64(70), 165), (0.05, Int64(90), 210), (0.1, Int64(120), 235)]
  )
#endif

/// What 60 small reliable messages a second take over a round trip of 100 ms that loses packets:
/// time, and bytes of the wire.
@Suite struct SmallMessageTests {
  private struct Figures {
    /// Of all messages but one in a hundred, milliseconds.
    let delay: Int64
    /// Bytes with the headers of IP and UDP, in hundredths of what a way without losses takes.
    let wire: Int
    let probes: Int
  }

  private func measure(loss: Double) throws -> Figures {
    let lossless = try run(loss: 0)
    let duel = try run(loss: loss)
    #expect(duel.faults.isEmpty)
    let delays = duel.hostPeer.checker.eventDelays.sorted()
    let flow = try #require(duel.callerPeer.connection?.datagram?.flow)
    return Figures(
      delay: delays[delays.count * 99 / 100] / 1_000_000,
      wire: bytes(duel) * 100 / bytes(lossless), probes: flow.statistics.tailProbes)
  }

  private func run(loss: Double) throws -> VirtualDuel {
    var duel = VirtualDuel(
      seed: 1, profile: LinkProfile("far", LinkConditions(oneWay: .milliseconds(50), loss: loss)),
      load: .small(ticks: seconds * 60))
    #expect(try duel.runLoad(for: .seconds(seconds + 5)))
    return duel
  }

  private func bytes(_ duel: VirtualDuel) -> Int {
    duel.callerPeer.bytesSent + DatagramFlow.headers * duel.callerPeer.datagramsSent
  }

  @Test(arguments: cases)
  func `small messages are in time, and cheap`(loss: Double, delay: Int64, wire: Int) throws {
    let figures = try measure(loss: loss)
    #expect(figures.delay <= delay && figures.wire <= wire, "\(figures)")
    #expect(figures.probes <= seconds / 8)
  }

  @Test func `acknowledgements ride on what a game says anyway`() throws {
    let ticks = 300
    let jittery = LinkConditions(
      oneWay: .milliseconds(10), jitter: .exponential(mean: .milliseconds(3)))
    var duel = VirtualDuel(
      seed: 1, profile: LinkProfile("jittery", jittery), load: Load(hertz: 60, ticks: ticks))
    #expect(try duel.runLoad(for: .seconds(10)))
    for peer in [duel.hostPeer, duel.callerPeer] {
      #expect(peer.datagramsSent <= ticks + ticks / 12, "\(peer.datagramsSent)")
    }
  }
}
