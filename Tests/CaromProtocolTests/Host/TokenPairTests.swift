import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

/// Clients that reconnect with a token, on virtual time.
@Suite struct TokenPairTests {
  private static let far = LinkProfile("far", LinkConditions(oneWay: .milliseconds(50)))

  /// A host, and a client that was connected for two seconds, received a token and left.
  private func makePair() throws -> (pair: VirtualPair, token: JoinToken) {
    var pair = VirtualPair(seed: 1, profile: Self.far)
    try pair.world.run(for: .seconds(2))
    #expect(pair.clientPeer.openedAt?.nanoseconds == 200_000_000)
    let token = try #require(pair.clientPeer.token)
    try leave(&pair)
    return (pair, token)
  }

  private func leave(_ pair: inout VirtualPair) throws {
    pair.world.withNode(of: pair.client) { $0.close(in: &$1) }
    try pair.world.run(for: .seconds(3))
  }

  /// Connects the client again and returns how many milliseconds that took.
  private func reconnect(_ pair: inout VirtualPair, with token: JoinToken?) throws -> Int64? {
    let begin = pair.world.network.now
    pair.world.withNode(of: pair.client) { $0.connectAgain(with: token, in: &$1) }
    try pair.world.run(for: .seconds(3))
    return pair.clientPeer.openedAt.map { ($0.nanoseconds - begin.nanoseconds) / 1_000_000 }
  }

  @Test func `a client with a token has its seat after one round trip`() throws {
    var (pair, token) = try makePair()
    for _ in 0..<3 {
      #expect(try reconnect(&pair, with: token) == 100)
      let next = try #require(pair.clientPeer.token)
      #expect(next != token)
      token = next
      try leave(&pair)
    }
    #expect(try reconnect(&pair, with: nil) == 200)
    #expect(pair.faults.isEmpty)
  }

  @Test func `connecting with a used token takes two round trips`() throws {
    var (pair, token) = try makePair()
    #expect(try reconnect(&pair, with: token) == 100)
    try leave(&pair)
    #expect(try reconnect(&pair, with: token) == 200)
    #expect(pair.hostPeer.machine.connectionIDs.count == 1)
  }

  @Test func `connecting with a token from before a restart of the host takes two round trips`()
    throws
  {
    var (pair, token) = try makePair()
    pair.world.withNode(of: pair.host) { peer, _ in peer.restart() }
    #expect(try reconnect(&pair, with: token) == 200)
  }

  @Test func `connecting with an expired token takes two round trips`() throws {
    var (pair, token) = try makePair()
    try pair.world.run(for: .seconds(86_400))
    #expect(try reconnect(&pair, with: token) == 200)
  }

  @Test func `a client whose hello with a token is lost falls back to a hello without one`()
    throws
  {
    var (pair, token) = try makePair()
    pair.setConditions(LinkConditions(oneWay: .milliseconds(50), loss: 1))
    let begin = pair.world.network.now
    pair.world.withNode(of: pair.client) { $0.connectAgain(with: token, in: &$1) }
    try pair.world.run(for: .milliseconds(100))
    pair.setConditions(LinkConditions(oneWay: .milliseconds(50)))
    try pair.world.run(for: .seconds(3))
    let opened = try #require(pair.clientPeer.openedAt)
    #expect((opened.nanoseconds - begin.nanoseconds) / 1_000_000 == 400)
  }

  @Test func `a lost reply to a hello with a token does not start a second connection`() throws {
    var (pair, token) = try makePair()
    let lossy = LinkConditions(oneWay: .milliseconds(50), loss: 1)
    let clear = LinkConditions(oneWay: .milliseconds(50))
    let back = LinkProfile("back", outbound: clear, inbound: lossy)
    pair.world.network.setProfile(back, from: pair.client, to: pair.host)
    pair.world.withNode(of: pair.client) { $0.connectAgain(with: token, in: &$1) }
    try pair.world.run(for: .milliseconds(150))
    pair.setConditions(clear)
    try pair.world.run(for: .seconds(3))
    #expect(pair.clientPeer.connection?.isOpen == true)
    #expect(pair.hostPeer.machine.connectionIDs.count == 1)
  }

  @Test func `a client with a token gets one connection despite loss and duplication`() throws {
    for seed in 1...10 as ClosedRange<UInt64> {
      let bad = LinkConditions(oneWay: .milliseconds(20), loss: 0.2).with { $0.duplication = 0.2 }
      var pair = VirtualPair(seed: seed, profile: LinkProfile("bad", bad))
      try pair.world.run(for: .seconds(3))
      for _ in 0..<3 {
        let token = pair.clientPeer.token
        try leave(&pair)
        _ = try reconnect(&pair, with: token)
        #expect(pair.clientPeer.connection?.isOpen == true, "seed \(seed)")
      }
      #expect(pair.hostPeer.machine.connectionIDs.count == 1, "seed \(seed)")
    }
  }
}
