import CaromCore
import CaromTesting
import Testing

@Suite struct StreamTests {
  @Test func `a call is connected after a round trip and accepted half a one later`() {
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

  @Test func `nobody listens: refused`() {
    var (network, a, b) = makePair()
    let call = network.connect(from: a, to: Endpoint(b.v4, port: 80))
    #expect(network.nextEvent() == .refused(call))
    #expect(network.now == .zero + .milliseconds(2))
    #expect(network.nextEvent() == nil)
  }

  @Test func `nobody at the address: timed out after 127 seconds`() {
    var (network, a, _) = makePair()
    let call = network.connect(from: a, to: Endpoint(.v4(0x0A00_FFFE), port: 80))
    #expect(network.nextEvent() == .timedOut(call))
    #expect(network.now == .zero + .seconds(127))
  }

  @Test func `a port is listened on once`() {
    var (network, a, _) = makePair()
    #expect(network.listen(a, port: 80) == 80)
    #expect(network.listen(a, port: 80) == nil)
    network.stopListening(a, port: 80)
    #expect(network.listen(a, port: 80) == 80)
    let free = network.listen(a) ?? 0
    #expect(free >= 49_152)
  }

  @Test(arguments: 0..<20) func `bytes come in order, in pieces, none lost`(seed: UInt64) {
    var world = makeStream(.wifi, seed: seed)
    let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    for start in stride(from: 0, to: bytes.count, by: 1_000) {
      world.network.write(Array(bytes[start..<start + 1_000]), to: world.caller)
    }
    world.network.finish(world.caller)
    var got: [UInt8] = []
    var pieces = 0
    var hasEnded = false
    while let event = world.network.nextEvent() {
      #expect(!hasEnded)
      if case .bytes(let more, world.listener) = event {
        got += more
        pieces += 1
      } else {
        #expect(event == .end(world.listener))
        hasEnded = true
      }
    }
    #expect(got == bytes && hasEnded, "seed \(seed)")
    #expect(pieces > 5 && pieces != 20, "seed \(seed)")
  }

  @Test func `after one end finished the other still writes`() {
    var world = makeStream()
    world.network.finish(world.caller)
    #expect(world.network.nextEvent() == .end(world.listener))
    #expect(world.network.write([1], to: world.caller) == false)
    world.network.write([2], to: world.listener)
    #expect(world.network.nextEvent() == .bytes([2], world.caller))
    world.network.finish(world.listener)
    #expect(world.network.nextEvent() == .end(world.caller))
    #expect(world.network.nextEvent() == nil)
  }

  @Test func `a reset comes after what was sent before, and ends both directions`() {
    var world = makeStream()
    world.network.write([1], to: world.caller)
    world.network.reset(world.caller)
    world.network.write([2], to: world.listener)
    #expect(world.network.nextEvent() == .bytes([1], world.listener))
    #expect(world.network.nextEvent() == .reset(world.listener))
    #expect(world.network.write([3], to: world.listener) == false)
    #expect(world.network.nextEvent() == nil)
  }

  @Test func `bytes to a closed end are answered with a reset`() {
    var world = makeStream()
    world.network.close(world.caller)
    #expect(world.network.nextEvent() == .end(world.listener))
    world.network.write([1], to: world.listener)
    #expect(world.network.nextEvent() == .reset(world.listener))
    #expect(world.network.nextEvent() == nil)
  }

  @Test func `a call that is given up is never accepted`() {
    var (network, a, b) = makePair()
    network.listen(b, port: 80)
    let call = network.connect(from: a, to: Endpoint(b.v4, port: 80))
    network.reset(call)
    #expect(network.nextEvent() == nil)
  }

  @Test func `several streams keep their bytes apart`() {
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

/// An open stream.
struct OpenStream {
  var network: VirtualNetwork
  let a: VirtualHost
  let b: VirtualHost
  let caller: VirtualStream
  let listener: VirtualStream
}

/// A stream from one host to another, accepted.
func makeStream(_ conditions: LinkConditions = .steady, seed: UInt64 = 1) -> OpenStream {
  var (network, a, b) = makePair(conditions, seed: seed)
  network.listen(b, port: 80)
  let caller = network.connect(from: a, to: Endpoint(b.v4, port: 80))
  _ = network.nextEvent()
  guard case .accepted(let listener, _, _) = network.nextEvent() else {
    preconditionFailure("a call to a listener is accepted")
  }
  return OpenStream(network: network, a: a, b: b, caller: caller, listener: listener)
}
