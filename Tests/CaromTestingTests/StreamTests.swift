import CaromCore
import CaromTesting
import Testing

@Suite struct StreamTests {
  @Test func `a stream connects after a round trip and is accepted half a round trip later`() {
    var (network, a, b) = makePair()
    network.listen(b, port: 80)
    let call = network.connect(from: a, to: Endpoint(b.v4, port: 80))
    #expect(network.write([1], to: call) == false)
    #expect(network.nextEvent() == .connected(call))
    #expect(network.now == .zero + .milliseconds(2))
    network.write([1], to: call)
    guard case .accepted(let answer, let from, 80) = network.nextEvent() else {
      Issue.record("not accepted")
      return
    }
    #expect(network.now == .zero + .milliseconds(3))
    #expect(from.address == a.v4)
    #expect(network.nextEvent() == .bytes([1], answer))
  }

  @Test func `a connection to a port without a listener is refused`() {
    var (network, a, b) = makePair()
    let call = network.connect(from: a, to: Endpoint(b.v4, port: 80))
    #expect(network.nextEvent() == .refused(call))
    #expect(network.now == .zero + .milliseconds(2))
    #expect(network.nextEvent() == nil)
  }

  @Test func `a connection to an unused address times out after 127 seconds`() {
    var (network, a, _) = makePair()
    let call = network.connect(from: a, to: Endpoint(.v4(0x0A00_FFFE), port: 80))
    #expect(network.nextEvent() == .timedOut(call))
    #expect(network.now == .zero + .seconds(127))
  }

  @Test func `a port can have one listener only`() {
    var (network, a, _) = makePair()
    #expect(network.listen(a, port: 80) == 80)
    #expect(network.listen(a, port: 80) == nil)
    network.stopListening(a, port: 80)
    #expect(network.listen(a, port: 80) == 80)
    let free = network.listen(a) ?? 0
    #expect(free >= 49_152)
  }

  @Test(arguments: 0..<20) func `bytes arrive in order and in chunks without loss`(seed: UInt64) {
    var world = makeStream(.wifi, seed: seed)
    let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    for start in stride(from: 0, to: bytes.count, by: 1_000) {
      world.network.write(Array(bytes[start..<start + 1_000]), to: world.client)
    }
    world.network.finish(world.client)
    var got: [UInt8] = []
    var chunks = 0
    var hasEnded = false
    while let event = world.network.nextEvent() {
      #expect(!hasEnded)
      if case .bytes(let more, world.listener) = event {
        got += more
        chunks += 1
      } else {
        #expect(event == .end(world.listener))
        hasEnded = true
      }
    }
    #expect(got == bytes && hasEnded, "seed \(seed)")
    #expect(chunks > 5 && chunks != 20, "seed \(seed)")
  }

  @Test func `after one end has finished, the other can still write`() {
    var world = makeStream()
    world.network.finish(world.client)
    #expect(world.network.nextEvent() == .end(world.listener))
    #expect(world.network.write([1], to: world.client) == false)
    world.network.write([2], to: world.listener)
    #expect(world.network.nextEvent() == .bytes([2], world.client))
    world.network.finish(world.listener)
    #expect(world.network.nextEvent() == .end(world.client))
    #expect(world.network.nextEvent() == nil)
  }

  @Test func `a reset arrives after earlier bytes and ends both directions`() {
    var world = makeStream()
    world.network.write([1], to: world.client)
    world.network.reset(world.client)
    world.network.write([2], to: world.listener)
    #expect(world.network.nextEvent() == .bytes([1], world.listener))
    #expect(world.network.nextEvent() == .reset(world.listener))
    #expect(world.network.write([3], to: world.listener) == false)
    #expect(world.network.nextEvent() == nil)
  }

  @Test func `bytes to a closed end are answered with a reset`() {
    var world = makeStream()
    world.network.close(world.client)
    #expect(world.network.nextEvent() == .end(world.listener))
    world.network.write([1], to: world.listener)
    #expect(world.network.nextEvent() == .reset(world.listener))
    #expect(world.network.nextEvent() == nil)
  }

  @Test func `an abandoned connection attempt is never accepted`() {
    var (network, a, b) = makePair()
    network.listen(b, port: 80)
    let call = network.connect(from: a, to: Endpoint(b.v4, port: 80))
    network.reset(call)
    #expect(network.nextEvent() == nil)
  }

  @Test func `the bytes of several streams are not mixed`() {
    var (network, a, b) = makePair(.lan)
    network.listen(b, port: 80)
    let calls = (0..<5).map { _ in network.connect(from: a, to: Endpoint(b.v4, port: 80)) }
    _ = events(of: &network)
    for (index, call) in calls.enumerated() { network.write([UInt8(index)], to: call) }
    var got: [Int: [UInt8]] = [:]
    for case .bytes(let bytes, let stream) in events(of: &network) {
      got[stream.number, default: []] += bytes
    }
    #expect(got == [0: [0], 1: [1], 2: [2], 3: [3], 4: [4]])
  }
}

/// A network with an open stream between two hosts.
struct OpenStream {
  var network: VirtualNetwork
  let a: VirtualHost
  let b: VirtualHost
  let client: VirtualStream
  let listener: VirtualStream
}

/// Opens a stream between two hosts.
func makeStream(_ conditions: LinkConditions = .steady, seed: UInt64 = 1) -> OpenStream {
  var (network, a, b) = makePair(conditions, seed: seed)
  network.listen(b, port: 80)
  let client = network.connect(from: a, to: Endpoint(b.v4, port: 80))
  _ = network.nextEvent()
  guard case .accepted(let listener, _, _) = network.nextEvent() else {
    preconditionFailure("a call to a listener is accepted")
  }
  return OpenStream(network: network, a: a, b: b, client: client, listener: listener)
}
