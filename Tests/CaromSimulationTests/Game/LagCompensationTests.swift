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

  @Test func `a tick out of sequence restarts the history`() {
    var history = LagCompensation(keeping: 10, of: Swarm(count: 1, seed: 1))
    history.append(Swarm(count: 1, seed: 1), at: Tick(0))
    history.append(Swarm(count: 1, seed: 2), at: Tick(50))
    #expect(history.state(at: Tick(0)) == nil)
    #expect(history.state(at: Tick(50))?.hash == Swarm(count: 1, seed: 2).hash)
  }

  @Test(arguments: [5, 1, 3] as [UInt64])
  func `after a tick out of sequence no state from before it is stored`(jump: UInt64) {
    var history = LagCompensation(keeping: 10, of: Swarm(count: 1, seed: 1))
    for tick in 0..<2 { history.append(Swarm(count: 1, seed: 1), at: Tick(UInt64(tick))) }
    history.append(Swarm(count: 1, seed: 2), at: Tick(jump))
    #expect(history.oldest == Tick(jump) && history.end == Tick(jump + 1))
    let stored = (0..<10).filter { history.state(at: Tick(UInt64($0))) != nil }
    #expect(stored == [Int(jump)])
    history.append(Swarm(count: 1, seed: 3), at: Tick(jump + 1))
    #expect(history.oldest == Tick(jump) && history.end == Tick(jump + 2))
  }

  @Test func `a state that is not stored leaves the game as it is`() {
    var history = LagCompensation(keeping: 4, of: Swarm(count: 1, seed: 1), from: Tick(9))
    #expect(history.capacity == 4)
    #expect(history.oldest == Tick(9) && history.end == Tick(9))
    var game = Swarm(count: 3, seed: 7)
    let hash = game.hash
    for tick in [8, 9] as [UInt64] {
      let isRewound = history.rewind(&game, to: Tick(tick))
      #expect(!isRewound && game.hash == hash)
    }
    for tick in 9..<14 {
      history.append(Swarm(count: 1, seed: UInt64(tick)), at: Tick(UInt64(tick)))
    }
    let isRewound = history.rewind(&game, to: Tick(9))
    #expect(!isRewound && game.hash == hash)
    #expect(history.oldest == Tick(10))
    #expect(history.state(at: Tick(10))?.hash == Swarm(count: 1, seed: 10).hash)
  }

  @Test(
    arguments: [
      (12, 3, 190), (7, 3, 193), (6, 3, 193), (0, 0, 199), (-20, -9, 199), (-20, 9, 190),
      (100, 9, 140), (100, 10, 139), (100, 11, 139), (500, 3, 139),
    ])
  func `the state that a player saw is half a round trip and the interpolation delay old`(
    roundTrip: Int, interpolation: Int, seen: UInt64
  ) {
    var history = LagCompensation(keeping: 61, of: Swarm(count: 1, seed: 1), from: Tick(100))
    for tick in 100..<200 { history.append(Swarm(count: 1, seed: 1), at: Tick(UInt64(tick))) }
    let tick = history.seenTick(
      at: Tick(199), roundTrip: roundTrip, interpolation: interpolation)
    #expect(tick == Tick(seen))
  }
}
