import CaromCore
import CaromTesting
import Testing

/// Effects of rate, loss and interruptions on streams.
@Suite struct StreamConditionTests {
  /// A rate of 100 kB/s, a delay of 20 ms and a queue of 200 ms.
  let slow = LinkConditions(oneWay: .milliseconds(20), rate: 100_000)

  @Test func `a stream uses the full rate and waits at the sender`() {
    var world = makeStream(slow)
    let start = world.network.now
    world.network.write([UInt8](repeating: 1, count: 100_000), to: world.client)
    #expect(world.network.unsentBytes(of: world.client) > 85_000)
    let got = receive(&world)
    #expect(got == 100_000)
    // A second for the bytes, and for a header of 40 bytes per chunk of about 730 bytes.
    #expect((1_000...1_150).contains((world.network.now - start).inMilliseconds))
    let link = world.network.counters(from: world.a, to: world.b)
    #expect(link.streamBytesSent > 104_000)
    #expect(link.longestQueue < 12_000)
  }

  @Test func `datagrams pass while a stream uses the full rate`() {
    var world = makeStream(slow)
    world.network.write([UInt8](repeating: 1, count: 200_000), to: world.client)
    let from = world.network.bind(world.a)
    _ = world.network.bind(world.b, port: 9)
    var delays: [Duration] = []
    for _ in 0..<100 {
      let sent = world.network.now
      world.network.send([7], from: from, to: Endpoint(world.b.v4, port: 9))
      while let event = world.network.nextEvent() {
        guard case .datagram = event else { continue }
        delays.append(world.network.now - sent)
        break
      }
    }
    #expect(delays.count == 100)
    #expect(delays.allSatisfy { $0 < .milliseconds(20 + 100 + 20) })
  }

  @Test func `two streams share the rate evenly`() {
    var (network, a, b) = makePair(slow)
    network.listen(b, port: 80)
    let calls = (0..<3).map { _ in network.connect(from: a, to: Endpoint(b.v4, port: 80)) }
    _ = events(of: &network)
    for call in calls { network.write([UInt8](repeating: 1, count: 200_000), to: call) }
    var got = [0, 0, 0]
    while let event = network.nextEvent(notAfter: .zero + .seconds(4)) {
      if case .bytes(let bytes, let stream) = event { got[stream.number] += bytes.count }
    }
    for count in got { #expect((110_000...150_000).contains(count), "\(got)") }
  }

  @Test func `a writer is notified when all bytes have been sent`() {
    var world = makeStream(slow)
    world.network.write([UInt8](repeating: 1, count: 50_000), to: world.client)
    world.network.notifyWhenDrained(world.client)
    var events: [VirtualEvent] = []
    while let event = world.network.nextEvent() {
      if case .bytes = event { continue }
      events.append(event)
      #expect(world.network.unsentBytes(of: world.client) == 0)
      #expect(world.network.queueLength(from: world.a, to: world.b) > 0)
    }
    #expect(events == [.drained(world.client)])
    world.network.notifyWhenDrained(world.client)
    #expect(world.network.nextEvent() == .drained(world.client))
    #expect(world.network.nextEvent() == nil)
  }

  @Test func `bytes written during a cut wait at the sender`() {
    var world = makeStream(slow)
    world.network.cut(world.b)
    world.network.write([UInt8](repeating: 1, count: 10_000), to: world.client)
    world.network.notifyWhenDrained(world.client)
    #expect(world.network.nextEvent() == nil)
    #expect(world.network.unsentBytes(of: world.client) == 10_000)
    world.network.restore(world.b)
    #expect(receive(&world) == 10_000)
    #expect(world.network.unsentBytes(of: world.client) == 0)
  }

  @Test func `loss delays a chunk and everything behind it`() {
    let lossy = LinkConditions(oneWay: .milliseconds(20), loss: 0.1)
    var delays: [Double] = []
    for seed in 0..<3 as Range<UInt64> {
      var world = makeStream(lossy, seed: seed)
      world.network.setConditions(
        lossy.with { $0.coalescing = 0 }, from: world.a, to: world.b)
      for _ in 0..<1_000 {
        let sent = world.network.now
        world.network.write([1], to: world.client)
        #expect(world.network.nextEvent() == .bytes([1], world.listener))
        delays.append((world.network.now - sent).inMilliseconds)
      }
    }
    let counts = [20.0, 220, 620, 1_420].map { wanted in
      delays.count { ($0 - wanted).magnitude < 0.001 }
    }
    #expect(isLikely(counts[0], of: 3_000, at: 0.9))
    #expect(isLikely(counts[1], of: 3_000, at: 0.09))
    #expect(isLikely(counts[2], of: 3_000, at: 0.009))
    #expect(counts.reduce(0, +) >= 2_999)
  }

  @Test func `burst loss delays streams at its loss rate`() {
    var world = makeStream(.steady)
    world.network.setConditions(
      .steady.with { $0.burstLoss = GilbertElliottLoss(loss: 0.05, length: 8) }, from: world.a,
      to: world.b)
    var late = 0
    for _ in 0..<2_000 {
      let sent = world.network.now
      world.network.write([1], to: world.client)
      #expect(world.network.nextEvent() == .bytes([1], world.listener))
      if world.network.now - sent > .milliseconds(1) { late += 1 }
    }
    #expect(isLikely(late, of: 2_000, at: 0.05))
  }

  @Test func `a stream waits for the end of an outage and keeps its order`() {
    var world = makeStream(.steady)
    let start = world.network.now
    world.network.setConditions(
      .steady.with { $0.outage = .during([start..<start + .seconds(3)]) }, from: world.a,
      to: world.b)
    world.network.write([1], to: world.client)
    world.network.write([2], to: world.client)
    #expect(world.network.unsentBytes(of: world.client) == 2)
    let expected: [VirtualEvent] = [.bytes([1], world.listener), .bytes([2], world.listener)]
    #expect(events(of: &world.network) == expected)
    #expect(world.network.now == start + .milliseconds(3_001))
  }

  @Test func `chunks in flight during an outage arrive after it`() {
    var world = makeStream(.steady)
    let start = world.network.now
    let dark = start + .microseconds(500)..<start + .seconds(1)
    world.network.setConditions(
      .steady.with { $0.outage = .during([dark]) }, from: world.a, to: world.b)
    world.network.write([1], to: world.client)
    #expect(world.network.nextEvent() == .bytes([1], world.listener))
    #expect(world.network.now == start + .seconds(1))
  }

  @Test(arguments: LinkProfile.all) func `all bytes arrive in order with every profile`(
    row: LinkProfile
  ) throws {
    try Seeds(3).check { seed in
      var (network, a, b) = makePair(seed: seed)
      if row.outbound.rebinding == nil { network.setProfile(row, from: a, to: b) }
      network.listen(b, port: 80)
      let call = network.connect(from: a, to: Endpoint(b.v4, port: 80))
      guard network.nextEvent() == .connected(call) else { throw Unlikely("no call") }
      let bytes = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
      network.write(bytes, to: call)
      network.finish(call)
      var got: [UInt8] = []
      for case .bytes(let more, _) in events(of: &network) { got += more }
      guard got == bytes else { throw Unlikely("\(got.count) bytes") }
    }
  }

  private func receive(_ world: inout OpenStream) -> Int {
    var count = 0
    while let event = world.network.nextEvent() {
      if case .bytes(let bytes, world.listener) = event { count += bytes.count }
    }
    return count
  }
}

/// A failure of one seed.
struct Unlikely: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
