import CaromCore
import CaromSimulation
import Testing

@Suite struct LagCompensationTests {
  @Test func `every state of the last second can be restored`() {
    var swarm = Swarm(count: 20, seed: 4)
    var history = LagCompensation(keeping: 61, of: swarm)
    var hand = SwarmHand(seed: 3)
    var hashes: [UInt64] = []
    var events: [Swarm.Event] = []
    for tick in 0..<300 {
      history.append(swarm, at: Tick(UInt64(tick)))
      hashes.append(swarm.hash)
      let inputs = [hand.input(), Swarm.Input()]
      swarm.step(inputs.span, events: &events)
    }
    #expect(history.oldest == Tick(239))
    #expect(history.end == Tick(300))
    for tick in 239..<300 {
      let found = history.rewind(&swarm, to: Tick(UInt64(tick)))
      #expect(found)
      #expect(swarm.hash == hashes[tick])
    }
    #expect(history.state(at: Tick(238)) == nil)
    #expect(history.state(at: Tick(300)) == nil)
  }

  @Test func `a player is judged by the state it saw, within the history`() {
    var history = LagCompensation(keeping: 61, of: Swarm(count: 1, seed: 1))
    for tick in 0..<200 as Range<UInt64> {
      history.append(Swarm(count: 1, seed: 1), at: Tick(tick))
    }
    #expect(history.seenTick(at: Tick(199), roundTrip: 12, interpolation: 3) == Tick(190))
    #expect(history.seenTick(at: Tick(199), roundTrip: 500, interpolation: 3) == Tick(139))
  }

  @Test func `a tick out of sequence restarts the history`() {
    var history = LagCompensation(keeping: 10, of: Swarm(count: 1, seed: 1))
    history.append(Swarm(count: 1, seed: 1), at: Tick(0))
    history.append(Swarm(count: 1, seed: 2), at: Tick(50))
    #expect(history.state(at: Tick(0)) == nil)
    #expect(history.state(at: Tick(50))?.hash == Swarm(count: 1, seed: 2).hash)
  }
}
