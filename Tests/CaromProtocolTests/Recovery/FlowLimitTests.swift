import CaromCore
import Testing

@testable import CaromProtocol

/// What limits a flow: its window, its packet numbers and its measurements of the round trip
/// (WireFormat, "Data packets" and "Loss").
@Suite struct FlowLimitTests {
  @Test func `a sender keeps at most its congestion window in flight`() {
    var bench = FlowBench()
    #expect(bench.flow.window == 19_200)
    for time in 0..<200 {
      while bench.flow.allowance(at: .at(Double(time)), urgent: false) > 0,
        bench.flow.nextNumber < 100
      {
        bench.send(bytes: 1_200 - DatagramFlow.headers, at: Double(time))
      }
    }
    #expect(bench.flow.nextNumber == 16 && bench.flow.inFlight == 19_200)
    #expect(bench.flow.nextSendTime() == nil)
    #expect(bench.flow.allowance(at: .at(200), urgent: true) > 0)
    bench.acknowledge(0...0, at: 200)
    #expect(bench.flow.inFlight == 18_000)
    #expect(bench.flow.allowance(at: .at(201), urgent: false) > 0)
  }

  @Test func `a packet number is less than 65,536 above the largest acknowledged`() {
    var bench = FlowBench()
    bench.send(at: 0)
    sendAcknowledgements(&bench, at: 1)
    #expect(bench.flow.nextNumber == 32_768 && bench.flow.nextSendTime(urgent: true) == nil)
    bench.acknowledge(0...0, at: 100)
    sendAcknowledgements(&bench, at: 101)
    #expect(bench.flow.nextNumber == 32_769)
  }

  /// Sends packets that only acknowledge for as long as the flow allows packets.
  private func sendAcknowledgements(_ bench: inout FlowBench, at time: Double) {
    while bench.flow.allowance(at: .at(time), urgent: true) > 0, bench.flow.nextNumber < 70_000 {
      bench.send(at: time, isAckEliciting: false)
    }
  }

  // MARK: The round trip

  /// RFC 9002, section 5.3. The delay is not subtracted from the first round trip, and a round trip
  /// never becomes shorter than the shortest by it.
  @Test func `the acknowledgement delay is subtracted from the round trip`() {
    var bench = FlowBench()
    let longest = AckDelay.longest.nanoseconds
    let almost = AckDelay(byte: 254).nanoseconds
    // The milliseconds until the acknowledgement, its delay, and the latest round trip.
    let rows: [(Double, Int64, Int64)] = [
      (100, 20_000_000, 100_000_000), (120, 15_000_000, 105_000_000),
      (120, 19_000_000, 101_000_000), (120, 20_000_000, 100_000_000),
      (120, 21_000_000, 100_000_000), (90, 10_000_000, 90_000_000),
      (300, almost, 300_000_000 - almost), (400, longest, 300_000_000 - almost),
    ]
    for (number, (whole, delay, latest)) in rows.enumerated() {
      let start = Double(number) * 1_000
      bench.send(at: start)
      var ranges = AcknowledgedRanges()
      ranges.append(0...UInt64(number))
      bench.acknowledge(ranges, ackDelay: delay, at: start + whole)
      #expect(bench.flow.roundTrip.latest == latest, "row \(number)")
    }
    #expect(bench.flow.roundTrip.minimum == 90_000_000)
  }

  @Test func `a sender that does not know the round-trip time assumes one fifth of a second`() {
    var bench = FlowBench(roundTrip: nil)
    #expect(bench.flow.roundTrip.smoothed == 200_000_000 && !bench.flow.roundTrip.hasSample)
    bench.send(at: 0)
    // Two round-trip times, and the delay of the acknowledgement.
    #expect(bench.deadline == 425)
  }

  @Test func `probes are at least a round trip after the packet and apart`() {
    var bench = FlowBench()
    for number in 0..<UInt64(60) {
      bench.send(at: Double(number) * 200)
      bench.acknowledge(number...number, at: Double(number) * 200 + 100)
    }
    bench.send(at: 12_000)
    var times = [12_025.0]
    for _ in 0..<9 {
      times.append(bench.deadline ?? 0)
      let isProbeDue = bench.timeOut()
      #expect(isProbeDue)
      bench.send(at: times.last ?? 0)
    }
    let pauses = zip(times, times.dropFirst()).map { ($1 - $0).rounded() }
    #expect(pauses == [100, 100, 100, 200, 400, 800, 1_000, 1_000, 1_000])
  }
}
