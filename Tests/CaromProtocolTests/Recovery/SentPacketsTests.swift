import CaromCore
import Testing

@testable import CaromProtocol

/// The packets that a sender remembers, the counters of a flow, and what a new path resets.
@Suite struct SentPacketsTests {
  private static let second: Int64 = 1_000_000_000

  /// Packets, each of 100 bytes and with a record that carries its number.
  private struct Bench {
    var sent = SentPackets()

    mutating func append(
      _ count: Int = 1, at time: Int64 = 0, isAckEliciting: Bool = true, records: Int = 1
    ) {
      for _ in 0..<count {
        let record = FrameRecord(.reliable, number: sent.nextNumber)
        sent.append(
          SentPacket(sent: time, bytes: 100, traits: isAckEliciting ? .isAckEliciting : []),
          carrying: Array(repeating: record, count: records))
      }
    }

    mutating func acknowledge(_ number: UInt64) -> [UInt64] {
      var records: [FrameRecord] = []
      sent.acknowledge(number, into: &records)
      return records.map(\.number)
    }

    mutating func declareLost(_ number: UInt64, at time: Int64 = 0) -> [UInt64] {
      var records: [FrameRecord] = []
      sent.declareLost(number, at: time, into: &records)
      return records.map(\.number)
    }

    /// The numbers of a list, in order.
    func numbers(_ list: PacketRing.List) -> [UInt64] {
      var (numbers, number): ([UInt64], UInt64) = ([], list.head)
      while number != PacketRing.List.end {
        numbers.append(number)
        number = sent.number(after: number)
      }
      return numbers
    }
  }

  @Test func `each packet is in one list, in the order of the numbers`() {
    var bench = Bench()
    bench.append(4)
    bench.append(2, isAckEliciting: false)
    bench.append(2)
    #expect(bench.sent.nextNumber == 8 && bench.sent.inFlight == 600)
    for number in [0, 2, 7] as [UInt64] { #expect(bench.declareLost(number) == [number]) }
    #expect(bench.acknowledge(4) == [4] && bench.acknowledge(3) == [3])
    #expect(bench.numbers(bench.sent.outstanding) == [1, 6])
    #expect(bench.numbers(bench.sent.nonEliciting) == [5])
    #expect(bench.numbers(bench.sent.lost) == [0, 2, 7] && bench.sent.inFlight == 200)
    bench.sent.removeLost(2)
    #expect(bench.numbers(bench.sent.lost) == [0, 7])
  }

  @Test func `all records of a packet are returned, however many packets are remembered`() {
    var bench = Bench()
    bench.append(1, records: 3)
    bench.append(70, records: 5)
    bench.append(1, records: 0)
    bench.append(100, records: 1)
    #expect(bench.acknowledge(0) == [0, 0, 0] && bench.acknowledge(71) == [])
    for number in 1...70 as ClosedRange<UInt64> {
      #expect(bench.declareLost(number) == Array(repeating: number, count: 5))
    }
    for number in 72...171 as ClosedRange<UInt64> { #expect(bench.acknowledge(number) == [number]) }
    #expect(bench.sent.outstanding.isEmpty && bench.sent.inFlight == 0)
  }

  @Test func `a lost packet is forgotten once it was lost before the given time`() {
    var bench = Bench()
    bench.append(3)
    for number in 0..<3 as Range<UInt64> { _ = bench.declareLost(number, at: Int64(number) * 10) }
    bench.sent.removeLost(before: 0)
    #expect(bench.numbers(bench.sent.lost) == [0, 1, 2])
    bench.sent.removeLost(before: 11)
    #expect(bench.numbers(bench.sent.lost) == [2] && bench.sent[2].lostTime == 20)
  }

  @Test func `a packet that elicits no acknowledgement is forgotten after a second`() {
    var bench = Bench()
    bench.append(2, at: 5, isAckEliciting: false)
    bench.append(1, at: 5)
    bench.append(1, at: 5 + Self.second)
    #expect(bench.numbers(bench.sent.nonEliciting) == [0, 1])
    bench.append(1, at: 6 + Self.second)
    #expect(bench.sent.nonEliciting.isEmpty)
    #expect(bench.numbers(bench.sent.outstanding) == [2, 3, 4])
  }

  @Test func `at most 65,536 packets are remembered`() {
    var bench = Bench()
    bench.append(1)
    bench.append(65_534)
    #expect(!bench.sent.isFull)
    bench.append(1)
    #expect(bench.sent.isFull)
    _ = bench.acknowledge(1)
    #expect(bench.sent.isFull, "the oldest packet counts")
    _ = bench.declareLost(0)
    #expect(bench.sent.isFull, "lost packets are remembered")
    bench.sent.removeLost(0)
    #expect(!bench.sent.isFull)
    var quiet = Bench()
    quiet.append(40_000, isAckEliciting: false)
    #expect(quiet.sent.nonEliciting.count == 32_768 && !quiet.sent.isFull)
  }

  // MARK: Counters

  @Test func `the counters of a flow include IP and UDP headers`() {
    var bench = FlowBench()
    bench.send(5, bytes: 100, at: 0)
    bench.send(1, bytes: 50, at: 0, isAckEliciting: false)
    #expect(bench.flow.inFlight == 640)
    bench.acknowledge(5...5, 1...3, at: 100)
    let statistics = bench.flow.statistics
    #expect(statistics.packetsSent == 6 && statistics.bytesSent == 5 * 128 + 78)
    // Packet 5 elicited no acknowledgement.
    #expect(statistics.packetsAcknowledged == 3 && statistics.bytesAcknowledged == 384)
    #expect(statistics.packetsLost == 1 && bench.flow.inFlight == 128)
    #expect(statistics.spuriousLosses == 0 && statistics.stalls == 0)
    #expect(bench.flow.largestAcknowledged == 3)
  }

  @Test func `the loss rate counts data packets, and a late acknowledgement corrects it`() {
    var bench = FlowBench()
    bench.send(10, at: 0)
    bench.acknowledge(2...9, at: 100)
    #expect(bench.flow.lossRate == 0.2 && bench.flow.statistics.packetsLost == 2)
    bench.acknowledge(1...1, at: 140)
    #expect(bench.flow.lossRate == 0.1 && bench.flow.statistics.spuriousLosses == 1)
    bench.acknowledge(1...1, at: 180)
    #expect(bench.flow.statistics.spuriousLosses == 1)
  }

  @Test func `a lost packet is remembered for two round trips`() {
    for (time, isSpurious) in [(300, true), (301, false)] as [(Double, Bool)] {
      var bench = FlowBench()
      bench.send(4, at: 0)
      bench.acknowledge(1...3, at: 100)
      #expect(bench.lost.map(\.number) == [0])
      bench.acknowledge(0...0, at: time)
      #expect(bench.flow.statistics.spuriousLosses == (isSpurious ? 1 : 0))
    }
  }

  @Test func `a new path discards the loss rate, the bandwidth and the schedule`() {
    var bench = FlowBench()
    bench.send(16, at: 0)
    bench.acknowledge(8...15, at: 20)
    #expect(bench.flow.lossRate == 0.5 && bench.flow.bandwidth > 0)
    bench.send(20, at: 21)
    #expect(bench.flow.allowance(at: .at(21), urgent: true) == 0)
    bench.flow.resetPath(at: .at(21))
    #expect(bench.flow.lossRate == 0 && bench.flow.bandwidth == 0 && bench.flow.queue == 0)
    #expect(bench.flow.window == 19_200 && bench.flow.pacingRate == 96_000)
    #expect(bench.flow.roundTrip.smoothed == 200_000_000)
    #expect(bench.flow.allowance(at: .at(21), urgent: true) > 0)
    #expect(bench.flow.nextNumber == 36 && bench.flow.largestAcknowledged == 15)
  }
}
