import CaromCore
import Testing

@testable import GameKit

@Suite struct MatchNegotiationTests {
  @Test func `a match that is full begins at once`() {
    var world = NegotiationWorld(2, counts: 2...2, seed: 1)
    world.connectAll()
    world.run(for: .milliseconds(100))
    #expect(world.begun.map(\.?.players) == [world.keys, world.keys])
    #expect(world.begun[0]?.name == world.begun[1]?.name)
  }

  @Test func `a match that is not full waits a second for more players`() {
    var world = NegotiationWorld(3, counts: 2...4, seed: 1)
    world.connect(0, 1)
    world.run(for: .milliseconds(900))
    #expect(world.begun.allSatisfy { $0 == nil })
    world.connect(0, 2)
    world.connect(1, 2)
    world.run(for: .milliseconds(900))
    #expect(world.begun.allSatisfy { $0 == nil })
    world.run(for: .seconds(1))
    #expect(world.begun.map(\.?.players) == [world.keys, world.keys, world.keys])
  }

  @Test func `too few players wait`() {
    var world = NegotiationWorld(2, counts: 3...4, seed: 1)
    world.connectAll()
    world.run(for: .seconds(10))
    #expect(world.begun.allSatisfy { $0 == nil })
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `everyone plays in one match, and its players agree on it`(seed: UInt64) {
    var world = NegotiationWorld(6, counts: 2...2, seed: seed)
    world.connectAll(within: .seconds(2))
    world.run(for: .seconds(40))
    #expect(world.begun.allSatisfy { $0 != nil })
    world.expectAgreement()
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `players agree although one of them is lost at any moment`(seed: UInt64) {
    var world = NegotiationWorld(4, counts: 3...3, seed: seed)
    world.connectAll()
    world.run(for: .milliseconds(Int64(seed * 2)))
    world.lose(Int(seed % 4))
    world.run(for: .seconds(20))
    world.expectAgreement()
    let isPlaying = world.begun.indices.map { world.begun[$0] != nil && !world.lost.contains($0) }
    #expect(isPlaying.count { $0 } >= 2)
  }

  @Test func `the next one proposes if the lowest one does not, and nobody plays with a stranger`()
  {
    var world = NegotiationWorld(3, counts: 2...2, seed: 1) { key, keys in
      // The first one plays with the third one alone, which wants to play with the second one.
      [keys[0]: [keys[2]], keys[2]: [keys[1]]][key]
    }
    world.connectAll()
    world.run(for: .seconds(10))
    #expect(world.begun[0] == nil)
    #expect(world.begun[1]?.players == [world.keys[1], world.keys[2]])
    world.expectAgreement()
  }

  @Test func `a proposal that nobody answers is withdrawn, and others are asked`() {
    var world = NegotiationWorld(3, counts: 2...2, seed: 1)
    world.silent = [1]
    world.connectAll()
    world.run(for: .seconds(10))
    #expect(world.begun[0]?.players == [world.keys[0], world.keys[2]])
    world.expectAgreement()
  }

  @Test(
    arguments: [
      ["a"], ["a", "b", "b"], ["b", "c"], ["a", "b", "x"], ["a", "b", "c", "d"], ["b", "a"],
    ])
  func `a proposal is refused unless it is the sender's, complete and of connected players`(
    players: [String]
  ) {
    var side = MatchNegotiation(as: "b", players: 2...3, retryTime: .seconds(1))
    for player in ["a", "c", "d"] { side.connect(player, at: .zero) }
    _ = side.takeOutputs()
    side.receive(.propose(number: 1, players: players), from: "a", at: .zero)
    let answer: MatchMessage =
      players == ["b", "a"] ? .agree(number: 1) : .refuse(number: 1)
    #expect(side.takeOutputs() == [.send(answer, to: "a")])
  }

  @Test func `messages that come late or from others change nothing`() {
    var side = MatchNegotiation(as: "b", players: 2...2, retryTime: .seconds(1))
    side.connect("a", at: .zero)
    side.connect("c", at: .zero)
    side.receive(.propose(number: 1, players: ["a", "b"]), from: "a", at: .zero)
    _ = side.takeOutputs()
    side.receive(.begin(proposer: "a", number: 2), from: "a", at: .zero)
    side.receive(.begin(proposer: "a", number: 1), from: "c", at: .zero)
    side.receive(.withdraw(number: 1), from: "c", at: .zero)
    side.receive(.withdraw(number: 2), from: "a", at: .zero)
    side.receive(.agree(number: 1), from: "a", at: .zero)
    #expect(side.takeOutputs() == [])
    side.receive(.propose(number: 1, players: ["b", "c"]), from: "c", at: .zero)
    #expect(side.takeOutputs() == [.send(.refuse(number: 1), to: "c")])
    side.receive(.begin(proposer: "a", number: 1), from: "a", at: .zero)
    #expect(side.takeOutputs().last == .begin(players: ["a", "b"], name: "a 1"))
  }
}
