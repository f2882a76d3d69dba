import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

/// Guests that come again, on virtual time.
@Suite struct TokenPairTests {
  private static let far = LinkProfile("far", LinkConditions(oneWay: .milliseconds(50)))

  /// A guest that was here for two seconds, has a token and left.
  private func makeDuel() throws -> (duel: VirtualPair, token: JoinToken) {
    var duel = VirtualPair(seed: 1, profile: Self.far)
    try duel.world.run(for: .seconds(2))
    #expect(duel.callerPeer.openedAt?.nanoseconds == 200_000_000)
    let token = try #require(duel.callerPeer.invitation)
    try leave(&duel)
    return (duel, token)
  }

  private func leave(_ duel: inout VirtualPair) throws {
    duel.world.withNode(of: duel.caller) { $0.close(in: &$1) }
    try duel.world.run(for: .seconds(3))
  }

  /// How many milliseconds it takes to join once more.
  private func join(_ duel: inout VirtualPair, with token: JoinToken?) throws -> Int64? {
    let begin = duel.world.network.now
    duel.world.withNode(of: duel.caller) { $0.callAgain(with: token, in: &$1) }
    try duel.world.run(for: .seconds(3))
    return duel.callerPeer.openedAt.map { ($0.nanoseconds - begin.nanoseconds) / 1_000_000 }
  }

  @Test func `who comes again with a token has its seat after one round trip`() throws {
    var (duel, token) = try makeDuel()
    for _ in 0..<3 {
      #expect(try join(&duel, with: token) == 100)
      let next = try #require(duel.callerPeer.invitation)
      #expect(next != token)
      token = next
      try leave(&duel)
    }
    #expect(try join(&duel, with: nil) == 200)
    #expect(duel.faults.isEmpty)
  }

  @Test func `a token that was used takes two round trips`() throws {
    var (duel, token) = try makeDuel()
    #expect(try join(&duel, with: token) == 100)
    try leave(&duel)
    #expect(try join(&duel, with: token) == 200)
    #expect(duel.hostPeer.machine.connectionIDs.count == 1)
  }

  @Test func `a token of before the host began anew takes two round trips`() throws {
    var (duel, token) = try makeDuel()
    duel.world.withNode(of: duel.host) { peer, _ in peer.restart() }
    #expect(try join(&duel, with: token) == 200)
  }

  @Test func `a token that is too old takes two round trips`() throws {
    var (duel, token) = try makeDuel()
    try duel.world.run(for: .seconds(86_400))
    #expect(try join(&duel, with: token) == 200)
  }

  @Test func `where the hello with the token is lost, or not understood, the usual one follows`()
    throws
  {
    var (duel, token) = try makeDuel()
    duel.setConditions(LinkConditions(oneWay: .milliseconds(50), loss: 1))
    let begin = duel.world.network.now
    duel.world.withNode(of: duel.caller) { $0.callAgain(with: token, in: &$1) }
    try duel.world.run(for: .milliseconds(100))
    duel.setConditions(LinkConditions(oneWay: .milliseconds(50)))
    try duel.world.run(for: .seconds(3))
    let opened = try #require(duel.callerPeer.openedAt)
    #expect((opened.nanoseconds - begin.nanoseconds) / 1_000_000 == 400)
  }

  @Test func `where the answer is lost the connection is the same one`() throws {
    var (duel, token) = try makeDuel()
    let lossy = LinkConditions(oneWay: .milliseconds(50), loss: 1)
    let clear = LinkConditions(oneWay: .milliseconds(50))
    let back = LinkProfile("back", outbound: clear, inbound: lossy)
    duel.world.network.setProfile(back, from: duel.caller, to: duel.host)
    duel.world.withNode(of: duel.caller) { $0.callAgain(with: token, in: &$1) }
    try duel.world.run(for: .milliseconds(150))
    duel.setConditions(clear)
    try duel.world.run(for: .seconds(3))
    #expect(duel.callerPeer.connection?.isOpen == true)
    #expect(duel.hostPeer.machine.connectionIDs.count == 1)
  }

  @Test func `under loss and doubling whoever comes again gets in, once`() throws {
    for seed in 1...10 as ClosedRange<UInt64> {
      let bad = LinkConditions(oneWay: .milliseconds(20), loss: 0.2).with { $0.duplication = 0.2 }
      var duel = VirtualPair(seed: seed, profile: LinkProfile("bad", bad))
      try duel.world.run(for: .seconds(3))
      for _ in 0..<3 {
        let token = duel.callerPeer.invitation
        try leave(&duel)
        _ = try join(&duel, with: token)
        #expect(duel.callerPeer.connection?.isOpen == true, "seed \(seed)")
      }
      #expect(duel.hostPeer.machine.connectionIDs.count == 1, "seed \(seed)")
    }
  }
}
