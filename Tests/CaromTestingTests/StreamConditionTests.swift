import CaromCore
import CaromTesting
import Testing

/// What rate, loss and interruptions do to streams.
@Suite struct StreamConditionTests {
  /// 100 kB/s, 20 ms, 200 ms of queue.
  let slow = LinkConditions(oneWay: .milliseconds(20), rate: 100_000)

  @Test func `a stream fills the rate and waits at the sender`() {
    var world = makeStream(slow)
    let start = world.network.now
    world.network.write([UInt8](repeating: 1, count: 100_000), to: world.caller)
    #expect(world.network.unsentBytes(of: world.caller) > 85_000)
    let got = receive(&world)
    #expect(got == 100_000)
    // A second for the bytes, and for a header of 40 to each piece of 730 or so.
    #expect((1_000...1_150).contains((world.network.now - start).inMilliseconds))
    let link = world.network.counters(from: world.a, to: world.b)
    #expect(link.streamBytesSent > 104_000)
    #expect(link.longestQueue < 12_000)
  }

  @Test func `datagrams pass beside a stream that fills the rate`() {
    var world = makeStream(slow)
    world.network.write([UInt8](repeating: 1, count: 200_000), to: world.caller)
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

  @Test func `two streams share a rate evenly`() {
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

  @Test func `a writer is told when nothing waits any more`() {
    var world = makeStream(slow)
    world.network.write([UInt8](repeating: 1, count: 50_000), to: world.caller)
    world.network.notifyWhenDrained(world.caller)
    var events: [VirtualEvent] = []
    while let event = world.network.nextEvent() {
      if case .bytes = event { continue }
      events.append(event)
      #expect(world.network.unsentBytes(of: world.caller) == 0)
      #expect(world.network.queueLength(from: world.a, to: world.b) > 0)
    }
    #expect(events == [.drained(world.caller)])
    world.network.notifyWhenDrained(world.caller)
    #expect(world.network.nextEvent() == .drained(world.caller))
    #expect(world.network.nextEvent() == nil)
  }

  @Test func `a cut holds a writer back`() {
    var world = makeStream(slow)
    world.network.cut(world.b)
    world.network.write([UInt8](repeating: 1, count: 10_000), to: world.caller)
    world.network.notifyWhenDrained(world.caller)
    #expect(world.network.nextEvent() == nil)
    #expect(world.network.unsentBytes(of: world.caller) == 10_000)
    world.network.restore(world.b)
    #expect(receive(&world) == 10_000)
    #expect(world.network.unsentBytes(of: world.caller) == 0)
  }

  @Test func `loss is delay, and all behind it waits`() {
    let lossy = LinkConditions(oneWay: .milliseconds(20), loss: 0.1)
    var delays: [Double] = []
    for seed in 0..<3 as Range<UInt64> {
      var world = makeStream(lossy, seed: seed)
      world.network.setConditions(
        lossy.with { $0.joining = 0 }, from: world.a, to: world.b)
      for _ in 0..<1_000 {
        let sent = world.network.now
        world.network.write([1], to: world.caller)
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

  @Test func `bursts delay streams as often as they take datagrams`() {
    var world = makeStream(.steady)
    world.network.setConditions(
      .steady.with { $0.bursts = GilbertElliottLoss(loss: 0.05, length: 8) }, from: world.a,
      to: world.b)
    var late = 0
    for _ in 0..<2_000 {
      let sent = world.network.now
      world.network.write([1], to: world.caller)
      #expect(world.network.nextEvent() == .bytes([1], world.listener))
      if world.network.now - sent > .milliseconds(1) { late += 1 }
    }
    #expect(isLikely(late, of: 2_000, at: 0.05))
  }

  @Test func `a stream waits for the end of a blackout, and keeps its order`() {
    var world = makeStream(.steady)
    let start = world.network.now
    world.network.setConditions(
      .steady.with { $0.blackout = .during([start..<start + .seconds(3)]) }, from: world.a,
      to: world.b)
    world.network.write([1], to: world.caller)
    world.network.write([2], to: world.caller)
    #expect(world.network.unsentBytes(of: world.caller) == 2)
    let expected: [VirtualEvent] = [.bytes([1], world.listener), .bytes([2], world.listener)]
    #expect(events(of: &world.network) == expected)
    #expect(world.network.now == start + .milliseconds(3_001))
  }

  @Test func `what a blackout catches on its way comes after it`() {
    var world = makeStream(.steady)
    let start = world.network.now
    let dark = start + .microseconds(500)..<start + .seconds(1)
    world.network.setConditions(
      .steady.with { $0.blackout = .during([dark]) }, from: world.a, to: world.b)
    world.network.write([1], to: world.caller)
    #expect(world.network.nextEvent() == .bytes([1], world.listener))
    #expect(world.network.now == start + .seconds(1))
  }

  @Test(arguments: LinkProfile.table) func `every byte comes in order on every row`(
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

/// Something that should not have happened.
struct Unlikely: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
