import CaromCore
import CaromTesting
import Testing

@Suite struct FaultTests {
  @Test func `a cut drops datagrams, including those in flight`() {
    var (network, a, b) = makePair()
    let from = network.bind(a)
    _ = network.bind(b, port: 9)
    network.send([1], from: from, to: Endpoint(b.v4, port: 9))
    network.cut(b)
    network.send([2], from: from, to: Endpoint(b.v4, port: 9))
    #expect(network.nextEvent() == nil)
    #expect(network.counters.datagramsCut == 2)
    network.restore(b)
    network.send([3], from: from, to: Endpoint(b.v4, port: 9))
    #expect(network.nextEvent() != nil)
  }

  @Test func `a cut delays streams without loss`() {
    var world = makeStream()
    world.network.cut(world.b)
    world.network.write([1], to: world.client)
    world.network.write([2], to: world.client)
    world.network.finish(world.client)
    #expect(world.network.nextEvent() == nil)
    world.network.advance(to: world.network.now + .seconds(10))
    world.network.restore(world.b)
    let expected: [VirtualEvent] = [
      .bytes([1], world.listener), .bytes([2], world.listener), .end(world.listener),
    ]
    #expect(events(of: &world.network) == expected)
  }

  @Test func `one direction of a link can be cut alone`() {
    var world = makeStream()
    world.network.setConditions(.cut, from: world.a, to: world.b)
    world.network.write([1], to: world.client)
    world.network.write([2], to: world.listener)
    #expect(events(of: &world.network) == [.bytes([2], world.client)])
    world.network.setConditions(nil, from: world.a, to: world.b)
    #expect(events(of: &world.network) == [.bytes([1], world.listener)])
  }

  @Test func `a killed process finishes its streams and refuses connections`() {
    var world = makeStream()
    world.network.kill(world.b)
    #expect(world.network.nextEvent() == .end(world.client))
    world.network.write([1], to: world.client)
    #expect(world.network.nextEvent() == .reset(world.client))
    let again = world.network.connect(from: world.a, to: Endpoint(world.b.v4, port: 80))
    #expect(world.network.nextEvent() == .refused(again))
  }

  @Test func `killing a process does not affect another on the same machine`() {
    var (network, a, b) = makePair()
    let neighbour = network.addHost(beside: b)
    network.listen(b, port: 80)
    network.listen(neighbour, port: 81)
    network.kill(b)
    let call = network.connect(from: a, to: Endpoint(b.v4, port: 81))
    #expect(network.nextEvent() == .connected(call))
  }

  @Test func `a crashed machine sends nothing`() {
    var world = makeStream()
    world.network.write([9], to: world.listener)
    world.network.crash(world.b)
    world.network.write([1], to: world.client)
    #expect(world.network.nextEvent() == nil)
  }

  @Test func `a rebooted machine resets the streams that it has lost`() {
    var world = makeStream()
    world.network.crash(world.b)
    world.network.write([1], to: world.client)
    #expect(world.network.nextEvent() == nil)
    world.network.reboot(world.b)
    #expect(events(of: &world.network) == [.reset(world.client)])
    world.network.listen(world.b, port: 80)
    let call = world.network.connect(from: world.a, to: Endpoint(world.b.v4, port: 80))
    #expect(world.network.nextEvent() == .connected(call))
  }

  @Test func `a connection attempt during a cut succeeds after the cut`() {
    var (network, a, b) = makePair()
    network.listen(b, port: 80)
    network.cut(b)
    let call = network.connect(from: a, to: Endpoint(b.v4, port: 80))
    #expect(network.nextEvent(notAfter: .zero + .seconds(2)) == nil)
    network.restore(b)
    #expect(network.nextEvent() == .connected(call))
    #expect(network.now < .zero + .seconds(5))
  }
}
