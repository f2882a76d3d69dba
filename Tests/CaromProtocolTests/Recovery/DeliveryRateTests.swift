import Testing

@testable import CaromProtocol

/// Samples of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation). Times are in
/// milliseconds, and packets have 1,000 bytes.
@Suite struct DeliveryRateTests {
  private struct Bench {
    var delivery = DeliveryRate()
    var inFlight = 0

    mutating func send(at time: Int64, isAppLimited: Bool = false) -> SentPacket {
      var packet = SentPacket(sent: time * 1_000_000, bytes: 1_000, traits: [])
      delivery.stamp(&packet, inFlight: inFlight, isAppLimited: isAppLimited)
      inFlight += 1_000
      return packet
    }

    /// Acknowledges `count` packets, the newest of which is `packet`.
    mutating func acknowledge(
      _ packet: SentPacket, count: Int = 1, minimum: Int64 = 0, at time: Int64
    ) -> DeliveryRate.Sample? {
      for _ in 0..<count { delivery.add(1_000, at: time * 1_000_000) }
      inFlight -= count * 1_000
      return delivery.sample(closing: packet, minimum: minimum * 1_000_000)
    }
  }

  @Test func `a sample covers the bytes delivered since its packet was sent`() {
    var bench = Bench()
    let packets = (0..<4).map { bench.send(at: 10 * $0) }
    let first = bench.acknowledge(packets[0], at: 100)
    #expect(first?.rate == 10_000 && first?.priorDelivered == 0 && first?.isAppLimited == false)
    let later = bench.send(at: 100)
    let third = bench.acknowledge(packets[2], count: 2, at: 120)
    #expect(third?.rate == 25_000 && third?.priorDelivered == 0)
    let fourth = bench.acknowledge(later, count: 2, at: 200)
    #expect(fourth?.rate == 40_000 && fourth?.priorDelivered == 1_000)
    #expect(bench.delivery.delivered == 5_000)
  }

  @Test func `a sample covers the longer of the sending and the acknowledging interval`() {
    var bench = Bench()
    let first = bench.send(at: 0)
    _ = bench.send(at: 90)
    _ = bench.acknowledge(first, at: 100)
    // Two packets: sent within 250 ms (after the one at 0 ms), acknowledged within 200 ms.
    let sparse = bench.send(at: 250)
    let sparseSample = bench.acknowledge(sparse, count: 2, at: 300)
    #expect(sparseSample?.rate == 8_000)
    // Four packets: sent within 80 ms (after the one at 250 ms), acknowledged within 200 ms.
    _ = bench.send(at: 300)
    let dense = (0..<3).map { bench.send(at: 310 + 10 * $0) }
    let denseSample = bench.acknowledge(dense[2], count: 4, at: 500)
    #expect(denseSample?.rate == 20_000)
  }

  @Test func `time in which nothing was in flight does not count`() {
    var bench = Bench()
    _ = bench.acknowledge(bench.send(at: 0), at: 100)
    let packet = bench.send(at: 5_000)
    let sample = bench.acknowledge(packet, at: 5_050)
    #expect(sample?.rate == 20_000 && sample?.priorDelivered == 1_000)
  }

  @Test func `an interval shorter than the shortest round trip gives no sample`() {
    for (minimum, isSample) in [(50, true), (51, false)] as [(Int64, Bool)] {
      var bench = Bench()
      let packet = bench.send(at: 0)
      let sample = bench.acknowledge(packet, minimum: minimum, at: 50)
      #expect((sample != nil) == isSample)
    }
    var bench = Bench()
    let packet = bench.send(at: 0)
    let sample = bench.acknowledge(packet, at: 0)
    #expect(sample == nil)
  }

  @Test func `samples are limited by the application until all its bytes are delivered`() {
    var bench = Bench()
    _ = bench.send(at: 0)
    // The queue is empty after the second packet; the third is sent before both are delivered.
    let limited = bench.send(at: 1, isAppLimited: true)
    let during = bench.send(at: 2)
    #expect(limited.traits.contains(.isAppLimited) && during.traits.contains(.isAppLimited))
    let sample = bench.acknowledge(limited, count: 2, at: 100)
    #expect(sample?.isAppLimited == true)
    let after = bench.send(at: 101)
    #expect(!after.traits.contains(.isAppLimited))
    _ = bench.acknowledge(during, at: 102)
    let last = bench.acknowledge(after, at: 201)
    #expect(last?.isAppLimited == false)
  }
}
