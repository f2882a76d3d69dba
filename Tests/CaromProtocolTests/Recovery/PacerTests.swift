import CaromCore
import Testing

@testable import CaromProtocol

/// The schedule of packets, at 1 MB/s: one byte a microsecond. Times are in microseconds.
@Suite struct PacerTests {
  private struct Bench {
    var pacer = Pacer()

    func credit(at time: Int64) -> Int { pacer.credit(at: time * 1_000, rate: 1e6) }

    mutating func send(_ bytes: Int, at time: Int64) {
      pacer.recordSent(bytes, at: time * 1_000, rate: 1e6)
    }
  }

  @Test func `a sender makes up for at most 4 ms`() {
    var bench = Bench()
    #expect(bench.credit(at: 0) == 4_000)
    bench.send(1_500, at: 0)
    #expect(bench.credit(at: 0) == 2_500)
    #expect(bench.credit(at: 1_000) == 3_500)
    #expect(bench.credit(at: 1_500) == 4_000 && bench.credit(at: 1_000_000) == 4_000)
    bench.send(1_500, at: 1_000_000)
    #expect(bench.credit(at: 1_000_000) == 2_500)
  }

  @Test func `each packet delays the next by the time that it takes at the rate`() {
    var bench = Bench()
    bench.send(4_000, at: 0)
    #expect(bench.credit(at: 0) == 0 && bench.pacer.next == 0)
    bench.send(1_200, at: 0)
    #expect(bench.pacer.next == 1_200_000)
    #expect(bench.credit(at: 0) == -1_200 && bench.credit(at: 1_200) == 0)
    bench.pacer.recordSent(500, at: 0, rate: 5e5)
    #expect(bench.pacer.next == 2_200_000)
  }

  @Test func `a debt is at most 8,192 bytes at the current rate`() {
    var bench = Bench()
    bench.send(20_000, at: 0)
    bench.pacer.limitDebt(at: 1_000_000, rate: 2e6)
    #expect(bench.pacer.next == 1_000_000 + 4_096_000)
    bench.pacer.limitDebt(at: 2_000_000, rate: 1e6)
    #expect(bench.pacer.next == 1_000_000 + 4_096_000, "a smaller debt stays")
  }

  // MARK: The allowance of a flow

  /// The initial rate of a flow: 16 packets of 1,200 bytes each round trip of 100 ms.
  private static let rate = 192_000.0

  @Test func `an allowance is at least one packet, even if the schedule allows less`() {
    var bench = FlowBench()
    #expect(bench.flow.pacingRate == Self.rate)
    // 4 ms at the rate are 768 bytes.
    #expect(bench.flow.allowance(at: .at(0), urgent: false) == 1_200)
    bench.send(bytes: 740, at: 0)
    #expect(bench.flow.allowance(at: .at(0), urgent: false) == 1_200)
    bench.send(bytes: 20, at: 0)
    #expect(bench.flow.allowance(at: .at(0), urgent: false) == 0)
    #expect(bench.flow.allowance(at: .at(0), urgent: true) == 4_096 - 48)
  }

  @Test func `an urgent allowance exceeds the schedule by 4,096 bytes`() {
    var bench = FlowBench()
    #expect(bench.flow.allowance(at: .at(0), urgent: true) == 4_096 + 768)
    bench.send(bytes: 4_096 + 768 - 28, at: 0)
    #expect(bench.flow.allowance(at: .at(0), urgent: true) == 1_200)
    bench.send(bytes: 1, at: 0)
    #expect(bench.flow.allowance(at: .at(0), urgent: true) == 0)
  }

  @Test func `an allowance does not exceed the room in the window`() {
    var bench = FlowBench()
    for number in 0..<10 { bench.send(bytes: 1_772, at: Double(number) * 10) }
    #expect(bench.flow.window - bench.flow.inFlight == 1_200)
    bench.send(bytes: 1_171, at: 200)
    // One byte of room is enough for a packet; a full window allows urgent packets only.
    #expect(bench.flow.allowance(at: .at(300), urgent: false) == 1_200)
    bench.send(bytes: 1, at: 300)
    #expect(bench.flow.allowance(at: .at(400), urgent: false) == 0)
    #expect(bench.flow.allowance(at: .at(400), urgent: true) == 4_096)
    #expect(bench.flow.nextSendTime() == nil)
  }

  @Test func `the next packet may be sent half a millisecond after it is due`() throws {
    var bench = FlowBench()
    bench.send(bytes: 768 + 1_920 - 28, at: 0)
    // 1,920 bytes take 10 ms.
    #expect(bench.flow.nextSendTime() == .at(10.5))
    // 4,096 bytes are sent ahead of schedule if they are urgent; they take 21.3 ms.
    #expect(bench.flow.nextSendTime(urgent: true) == Instant(nanoseconds: 10_500_000 - 21_333_333))
    #expect(bench.flow.allowance(at: .at(9.99), urgent: false) == 0)
    #expect(bench.flow.allowance(at: .at(10), urgent: false) == 1_200)
  }
}
