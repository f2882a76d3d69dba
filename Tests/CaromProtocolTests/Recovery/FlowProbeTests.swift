import CaromCore
import Testing

@testable import CaromProtocol

/// Probes, stalls and black holes of a flow, and what its packets do not count for.
@Suite struct FlowProbeTests {
  /// A flow that has measured its round trip of 100 ms, and then sent a path MTU probe of the
  /// length of Ethernet.
  private func makeProbing() -> FlowBench {
    var bench = FlowBench(maximumPayload: 1_472)
    bench.send(at: 0)
    bench.acknowledge(0...0, at: 100)
    sendMTUProbe(&bench, at: 100)
    return bench
  }

  /// A flow that has found the length of Ethernet.
  private func makeWide() -> FlowBench {
    var bench = makeProbing()
    bench.acknowledge(1...1, at: 200)
    return bench
  }

  private func sendMTUProbe(_ bench: inout FlowBench, at time: Double) {
    bench.flow.didSend(
      bytes: 1_472, isAckEliciting: true, records: [], isMTUProbe: true, isAppLimited: true,
      at: .at(time))
  }

  @Test func `a path MTU probe is sent once the round trip was measured`() {
    var bench = FlowBench(maximumPayload: 1_472)
    #expect(bench.flow.nextMTUProbe(at: .at(50)) == nil && bench.flow.packetSize == 1_200)
    bench.send(at: 0)
    bench.acknowledge(0...0, at: 100)
    #expect(bench.flow.nextMTUProbe(at: .at(100)) == 1_472)
    sendMTUProbe(&bench, at: 100)
    #expect(bench.flow.nextMTUProbe(at: .at(100)) == nil && bench.flow.inFlight == 1_500)
    bench.acknowledge(1...1, at: 200)
    #expect(bench.flow.packetSize == 1_472 && bench.flow.congestion.packetSize == 1_472)
    #expect(bench.flow.window >= 16 * 1_472)
  }

  @Test func `a lost path MTU probe is no loss of data`() {
    var bench = makeProbing()
    bench.send(9, at: 100)
    bench.acknowledge(2...10, at: 200)
    #expect(bench.flow.statistics.packetsLost == 1 && bench.flow.lossRate == 0)
    #expect(bench.flow.congestion.rounds.current.losses == 0)
    #expect(bench.flow.nextMTUProbe(at: .at(200)) == 1_472, "it is sent again")
    bench.acknowledge(1...1, at: 220)
    #expect(bench.flow.packetSize == 1_472 && bench.flow.statistics.spuriousLosses == 1)
    #expect(bench.flow.lossRate == 0)
  }

  @Test func `the second probe without an answer falls back to 1,200 bytes`() {
    var bench = makeWide()
    bench.send(bytes: 1_472, at: 300)
    for (probe, size) in [(1, 1_472), (2, 1_200), (3, 1_200)] {
      let isProbeDue = bench.timeOut()
      #expect(isProbeDue && bench.flow.statistics.tailProbes == probe)
      #expect(bench.flow.packetSize == size && bench.flow.congestion.packetSize == size)
      #expect(bench.flow.statistics.blackHoles == (size == 1_200 ? 1 : 0))
      bench.send(at: (bench.deadline ?? 0) - 100)
    }
  }

  @Test func `six lost packets that are longer than 1,200 bytes fall back too`() {
    var bench = makeWide()
    bench.send(7, bytes: 1_472, at: 1_000)
    bench.send(3, bytes: 1_200, at: 1_000)
    bench.acknowledge(9...11, at: 1_100)
    #expect(bench.flow.statistics.packetsLost == 7 && bench.flow.statistics.blackHoles == 1)
    #expect(bench.flow.packetSize == 1_200 && bench.flow.congestion.packetSize == 1_200)
    // The next search begins 5 s later.
    #expect(bench.flow.nextMTUProbe(at: .at(6_099)) == nil)
    #expect(bench.flow.nextMTUProbe(at: .at(6_100)) == 1_472)
  }

  @Test func `a flow stalls at the fourth probe without an answer, until the next one`() {
    var bench = FlowBench()
    bench.send(at: 0)
    bench.acknowledge(0...0, at: 100)
    bench.send(3, at: 200)
    for probe in 1...6 {
      let time = bench.deadline ?? 0
      let isProbeDue = bench.timeOut()
      #expect(isProbeDue && bench.flow.statistics.tailProbes == probe)
      #expect(bench.flow.statistics.stalls == (probe < 4 ? 0 : 1))
      #expect(bench.flow.congestion.isStalled == (probe >= 4))
      #expect(bench.lost.isEmpty == (probe < 4))
      bench.send(at: time)
    }
    #expect(bench.lost.map(\.number).starts(with: [1, 2, 3]))
    #expect(bench.flow.window == 4_800 && bench.flow.pacingRate == 16_000)
    let last = bench.flow.nextNumber - 1
    bench.acknowledge(last...last, at: 3_100)
    #expect(!bench.flow.congestion.isStalled && bench.flow.pacingRate > 16_000)
    #expect(bench.flow.statistics.stalls == 1)
  }

  @Test func `packets that were sent recently survive a stall`() {
    var bench = FlowBench()
    bench.send(at: 0)
    bench.acknowledge(0...0, at: 100)
    bench.send(at: 200)
    for _ in 0..<3 { _ = bench.timeOut() }
    let time = bench.deadline ?? 0
    // The probe timeout is 200 ms, and the peer's delay 25 ms.
    bench.send(at: time - 225.001)
    bench.send(at: time - 225)
    _ = bench.timeOut()
    #expect(bench.lost.map(\.number) == [1, 2] && bench.flow.statistics.packetsLost == 2)
  }

  @Test func `a timeout that is not due does nothing`() {
    var bench = FlowBench()
    bench.send(2, at: 0)
    bench.acknowledge(1...1, at: 100)
    #expect(bench.deadline == 125)
    let isProbeDue = bench.flow.handleTimeout(at: .at(124.999), lost: &bench.lost)
    #expect(!isProbeDue && bench.lost.isEmpty && bench.flow.statistics.tailProbes == 0)
  }

  @Test func `a probe awaits the packets after the largest acknowledged one`() {
    var bench = FlowBench()
    bench.send(at: 0)
    bench.send(at: 60)
    bench.send(at: 80)
    bench.acknowledge(1...1, at: 160)
    #expect(bench.lost.map(\.number) == [0])
    // Two round trips of 100 ms and the peer's delay of 25 ms after packet 2.
    #expect(bench.deadline == 305)
  }

  @Test func `a second acknowledgement of the same packets has no effect`() {
    var bench = FlowBench()
    bench.send(3, at: 0)
    bench.acknowledge(0...1, at: 100)
    let (statistics, roundTrip) = (bench.flow.statistics, bench.flow.roundTrip.smoothed)
    let isAccepted = bench.acknowledge(0...1, at: 150)
    #expect(isAccepted && bench.flow.statistics == statistics)
    #expect(bench.flow.roundTrip.smoothed == roundTrip && bench.acknowledged.count == 2)
    // It does not end a run of probes either.
    _ = bench.timeOut()
    bench.acknowledge(0...1, at: 400)
    #expect(bench.flow.detector.probes == 1)
    bench.acknowledge(0...2, at: 410)
    #expect(bench.flow.detector.probes == 0)
  }

  @Test func `a round trip is measured by the largest number only if it is new`() {
    var bench = FlowBench()
    bench.send(4, at: 0)
    bench.acknowledge(3...3, at: 100)
    bench.acknowledge(3...3, 0...1, at: 190)
    #expect(bench.flow.roundTrip.latest == 100_000_000)
    bench.send(at: 200)
    bench.acknowledge(2...4, at: 280)
    #expect(bench.flow.roundTrip.latest == 80_000_000)
  }

  @Test func `packets that elicit no acknowledgement count neither for the rate nor for the loss`()
  {
    var bench = FlowBench()
    let allowance = bench.flow.allowance(at: .zero, urgent: true)
    bench.send(20, at: 0, isAckEliciting: false)
    #expect(bench.flow.allowance(at: .zero, urgent: true) == allowance)
    bench.acknowledge(10...15, at: 100)
    #expect(!bench.flow.roundTrip.hasSample && bench.flow.bandwidth == 0)
    #expect(bench.flow.statistics.packetsAcknowledged == 0 && bench.flow.lossRate == 0)
    #expect(bench.flow.largestAcknowledged == nil && bench.acknowledged.count == 6)
  }

  @Test func `spurious losses are searched for eight times per round trip`() {
    for (time, isFound) in [(112.4, false), (112.5, true)] {
      var bench = FlowBench()
      bench.send(5, at: 0)
      bench.acknowledge(1...3, at: 100)
      #expect(bench.lost.map(\.number) == [0])
      bench.acknowledge(0...0, at: time)
      #expect(bench.flow.statistics.spuriousLosses == (isFound ? 1 : 0))
    }
  }

  @Test func `several ranges acknowledge exactly their packets`() {
    var bench = FlowBench()
    bench.send(4, at: 0)
    bench.send(4, at: 0, isAckEliciting: false)
    bench.send(4, at: 0)
    bench.acknowledge(10...10, 5...6, 1...2, at: 100)
    #expect(bench.acknowledged.map(\.number).sorted() == [1, 2, 5, 6, 10])
    #expect(bench.lost.map(\.number) == [0, 3] && bench.flow.inFlight == 3 * 1_028)
    bench.acknowledge(11...11, 7...9, 4...4, at: 110)
    #expect(
      bench.acknowledged.map(\.number).sorted() == [1, 2, 4, 5, 6, 7, 8, 9, 10, 11])
    #expect(bench.flow.inFlight == 0)
  }

  @Test func `a rate that the application limited does not end startup`() {
    var limited = FlowBench()
    var busy = FlowBench()
    for number in 0..<UInt64(12) {
      let start = Double(number) * 100
      limited.send(at: start)
      busy.flow.didSend(
        bytes: 1_000, isAckEliciting: true, records: [], isAppLimited: false, at: .at(start))
      limited.acknowledge(number...number, at: start + 100)
      busy.acknowledge(number...number, at: start + 100)
    }
    #expect(limited.flow.congestion.phase.isStartup && !busy.flow.congestion.phase.isStartup)
  }

  @Test func `a new path searches for its own MTU and gets its own probes`() {
    var bench = makeWide()
    bench.send(at: 300)
    for _ in 0..<3 { _ = bench.timeOut() }
    bench.flow.resetPath(at: .at(2_000))
    #expect(bench.flow.packetSize == 1_200 && bench.flow.congestion.packetSize == 1_200)
    #expect(bench.flow.detector.probes == 0 && !bench.flow.roundTrip.hasSample)
    bench.send(at: 2_000)
    let number = bench.flow.nextNumber - 1
    bench.acknowledge(number...number, at: 2_050)
    #expect(bench.flow.roundTrip.latest == 50_000_000)
    #expect(bench.flow.nextMTUProbe(at: .at(2_050)) == 1_472)
  }
}
