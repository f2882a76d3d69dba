import CaromCore
import Testing

@testable import CaromProtocol

/// Loss detection and probe timeouts of a flow.
@Suite struct FlowLossTests {
  @Test func `without reordering a packet is lost once one sent three later is acknowledged`() {
    var bench = FlowBench()
    bench.send(5, at: 0)
    bench.acknowledge(1...3, at: 100)
    #expect(bench.lost.map(\.number) == [0])
    #expect(bench.acknowledged.map(\.number) == [1, 2, 3])
  }

  @Test func `a packet that one later packet overtook is lost a quarter of a round trip later`() {
    var bench = FlowBench()
    bench.send(2, at: 0)
    bench.acknowledge(1...1, at: 100)
    #expect(bench.lost.isEmpty && bench.deadline == 125)
    let isProbeDue = bench.timeOut()
    #expect(!isProbeDue)
    #expect(bench.lost.map(\.number) == [0])
    #expect(bench.deadline == nil)
  }

  @Test func `a spurious loss widens the reordering window and is not reported`() {
    var bench = FlowBench()
    bench.send(2, at: 0)
    bench.acknowledge(1...1, at: 100)
    _ = bench.timeOut()
    bench.acknowledge(0...1, at: 140)
    #expect(bench.acknowledged.map(\.number) == [1])
    #expect(bench.flow.statistics.spuriousLosses == 1)
    bench.send(5, at: 200)
    bench.acknowledge(3...6, at: 300)
    #expect(bench.lost.count == 1 && bench.deadline == 350)
  }

  @Test func `a packet that the next acknowledgement adds is not lost`() {
    var bench = FlowBench()
    bench.send(2, at: 0)
    bench.acknowledge(1...1, at: 100)
    bench.acknowledge(0...1, at: 110)
    #expect(bench.lost.isEmpty && bench.acknowledged.count == 2 && bench.deadline == nil)
  }

  @Test func `probes are sent at even intervals first, then all packets are lost`() {
    var bench = FlowBench()
    bench.send(1, at: 0)
    bench.acknowledge(0...0, at: 100)
    bench.send(2, at: 200)
    var times: [Double] = []
    for _ in 0..<6 {
      times.append(bench.deadline ?? 0)
      let isProbeDue = bench.timeOut()
      #expect(isProbeDue)
      bench.send(1, at: times.last ?? 0)
    }
    let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
    #expect(times[0] == 425)
    #expect(pauses[0] == 200 && pauses[1] == 200 && pauses[2] == 400)
    #expect(pauses[3] > 400 && pauses[4] == 1_000)
    #expect(bench.lost.map(\.number).starts(with: [1, 2]))
    #expect(bench.flow.statistics.stalls == 1)
  }

  @Test func `a probe waits for the peer's acknowledgement delay or for the third packet`() {
    var bench = FlowBench()
    let deadlines = [0, 10, 20, 30].map { (time: Double) in
      bench.send(1, at: time)
      return bench.deadline
    }
    #expect(deadlines == [225, 225, 220, 220])
  }

  @Test func `a probe waits for three acknowledgements while packets are sent steadily`() {
    var bench = FlowBench()
    let deadlines = (0..<9).map { number in
      bench.send(1, at: Double(number) * 10)
      return bench.deadline
    }
    #expect(deadlines == [225, 225, 220, 220, 240, 240, 260, 260, 260])
    var slow = FlowBench()
    for number in 0..<6 { slow.send(1, at: Double(number) * 30) }
    #expect(slow.deadline == 320)
  }

  @Test func `a game's steady packets need no probe, however short the round trip`() {
    var bench = FlowBench()
    for number in 0..<UInt64(600) {
      let time = Double(number) * 1_000 / 60
      bench.send(1, at: time)
      // The peer acknowledges every second packet at once.
      if number % 2 == 1 { bench.acknowledge(0...number, at: time + 0.1) }
      if let due = bench.deadline { #expect(due > time + 1_000 / 60) }
    }
    #expect(bench.flow.statistics.tailProbes == 0)
  }

  @Test func `an acknowledgement of a packet that was never sent is refused`() {
    var bench = FlowBench()
    bench.send(2, at: 0)
    let isAccepted = bench.acknowledge(1...2, at: 100)
    #expect(!isAccepted)
    #expect(bench.acknowledged.isEmpty && bench.flow.inFlight > 0)
  }

  @Test func `packets that elicit no acknowledgement are not in flight and never lost`() {
    var bench = FlowBench()
    bench.send(3, at: 0, isAckEliciting: false)
    #expect(bench.flow.inFlight == 0 && bench.deadline == nil)
    bench.acknowledge(1...1, at: 100)
    #expect(bench.acknowledged.map(\.number) == [1] && bench.lost.isEmpty)
    for time in 0..<10_000 { bench.send(1, at: 200 + Double(time), isAckEliciting: false) }
    #expect(bench.lost.isEmpty)
  }

  @Test func `an abandoned path declares each outstanding packet lost once`() {
    var bench = FlowBench()
    bench.send(100, at: 0)
    bench.acknowledge(0...9, at: 100)
    bench.flow.abandonAll(lost: &bench.lost)
    #expect(bench.lost.map(\.number) == Array(10...99))
    #expect(bench.flow.inFlight == 0 && bench.deadline == nil)
    bench.acknowledge(0...99, at: 200)
    #expect(bench.acknowledged.count == 10)
  }

  @Test func `each record is returned once, whatever happens to acknowledgements`() {
    for seed in 0..<UInt64(50) {
      var generator = SeededGenerator(seed: seed)
      var bench = FlowBench()
      var received = AcknowledgedRanges()
      var evicted: ClosedRange<UInt64>?
      var time = 0.0
      for _ in 0..<400 {
        time += Double.random(in: 0...40, using: &generator)
        if let due = bench.deadline, due <= time { _ = bench.timeOut() }
        bench.send(Int.random(in: 0...3, using: &generator), at: time)
        guard bench.flow.nextNumber > 0 else { continue }
        let oldest = bench.flow.nextNumber - min(bench.flow.nextNumber, 20)
        let number = UInt64.random(in: oldest..<bench.flow.nextNumber, using: &generator)
        _ = received.insert(number, evicted: &evicted)
        if generator.chance(0.5) { bench.acknowledge(received, at: time) }
      }
      bench.flow.abandonAll(lost: &bench.lost)
      let returned = (bench.acknowledged + bench.lost).map(\.number).sorted()
      #expect(returned == Array(0..<bench.flow.nextNumber), "seed \(seed)")
      #expect(bench.flow.inFlight == 0)
    }
  }

  @Test func `a side that only acknowledges elicits an acknowledgement now and then`() {
    var bench = FlowBench()
    bench.send(31, at: 0, isAckEliciting: false)
    #expect(!bench.flow.shouldElicitAck)
    bench.send(1, at: 0, isAckEliciting: false)
    #expect(bench.flow.shouldElicitAck)
    bench.send(1, at: 0)
    #expect(!bench.flow.shouldElicitAck)
  }

  @Test func `a new path keeps the packet numbers and discards the round trip`() {
    var bench = FlowBench()
    bench.send(4, at: 0)
    bench.acknowledge(0...1, at: 100)
    bench.flow.resetPath(at: .at(110))
    #expect(bench.flow.nextNumber == 4 && !bench.flow.roundTrip.hasSample)
    bench.acknowledge(0...3, at: 120)
    #expect(!bench.flow.roundTrip.hasSample && bench.acknowledged.count == 4)
    bench.send(1, at: 130)
    bench.acknowledge(0...4, at: 150)
    #expect(bench.flow.roundTrip.latest == 20_000_000)
  }

  @Test func `urgent packets are sent ahead of schedule, up to a debt`() {
    var bench = FlowBench()
    var count = 0
    while bench.flow.allowance(at: .zero, urgent: false) > 0, count < 1_000 {
      bench.send(at: 0)
      count += 1
    }
    #expect((1...16).contains(count))
    let bulk = count
    while bench.flow.allowance(at: .zero, urgent: true) > 0, count < 1_000 {
      bench.send(at: 0)
      count += 1
    }
    #expect((3...5).contains(count - bulk))
    #expect(bench.flow.nextSendTime()! > .zero)
  }
}
