import CaromCore
import Testing

@testable import CaromSimulation

/// A match that goes on at another host (page Rollback, Go on with a match at another host).
@Suite struct RollbackCheckpointTests {
  private typealias Checkpoint = RollbackCheckpoint<Swarm>

  private static let peers = [PeerID(high: 0x0102_0304_0506_0708, low: 9), nil]

  private func makeServer() -> RollbackServer<Swarm> {
    RollbackServer(Swarm(count: 4, seed: 1), players: 2, rate: 30, at: .zero)
  }

  private func play(_ server: inout RollbackServer<Swarm>, _ ticks: Int) {
    for _ in 0..<ticks {
      let push = Int32(server.tick.rawValue % 50)
      server.setInput(Swarm.Input(push: push), for: 0)
      server.setInput(Swarm.Input(push: -push), for: 1)
      server.advance()
    }
  }

  @Test func `a server goes on from a checkpoint as the first one would have`() throws {
    var first = makeServer()
    play(&first, 50)
    let bytes = RollbackHost<Swarm, Int>(first, lastPeers: Self.peers).checkpoint.encoded
    let checkpoint = try Checkpoint(decoding: bytes.span)
    #expect(checkpoint.tick == Tick(50) && checkpoint.rate == 30)
    #expect(checkpoint.peers == Self.peers)
    let now = Instant(nanoseconds: 7_000_000_000)
    var second = RollbackServer(resuming: checkpoint, at: now)
    #expect(second.tick == Tick(50) && second.rate == 30)
    #expect(second.nextTick > now && second.nextTick <= now + .milliseconds(34))
    play(&first, 50)
    play(&second, 50)
    #expect(second.state.hash == first.state.hash && second.tick == first.tick)
  }

  @Test func `a peer gets its player back, in whatever order they come`() throws {
    let peer = PeerID(high: 0, low: 5)
    var host = RollbackHost<Swarm, Int>(makeServer())
    host.add(1, peer: PeerID(high: 0, low: 4), as: 0)
    host.add(2, peer: peer, as: 1)
    let checkpoint = host.checkpoint
    let server = RollbackServer(resuming: checkpoint, at: .zero)
    let next = RollbackHost<Swarm, Int>(server, lastPeers: checkpoint.peers)
    #expect(next.player(for: peer) == 1)
    #expect(next.player(for: PeerID(high: 0, low: 4)) == 0)
  }

  @Test func `a checkpoint has the documented layout`() {
    let state = Swarm(count: 4, seed: 1)
    let checkpoint = Checkpoint(tick: Tick(0x0201), rate: 60, peers: Self.peers, state: state)
    var writer = PacketWriter()
    writer.write(state.hash)
    state.encode(into: &writer)
    let head: [UInt8] = [1, 2, 0, 0, 0, 0, 0, 0, 60, 0, 2]
    let first: [UInt8] = [1, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 9]
    #expect(checkpoint.encoded == head + first + [0] + writer.bytes)
  }

  @Test func `a checkpoint that no match can have is not accepted`() {
    let state = Swarm(count: 4, seed: 1)
    let bytes = Checkpoint(tick: Tick(3), rate: 60, peers: Self.peers, state: state).encoded
    func change(_ index: Int, to value: UInt8) -> [UInt8] {
      var changed = bytes
      changed[index] = value
      return changed
    }
    // The tick, the rate, the number of players, the mark of a player's peer, and the hash.
    for changed in [
      change(7, to: 0x40), change(8, to: 0), change(10, to: 0), change(11, to: 2),
      change(29, to: bytes[29] ^ 1),
    ] {
      #expect(throws: DecodeError.self) { try Checkpoint(decoding: changed.span) }
    }
    for length in bytes.indices {
      let cut = Array(bytes[..<length])
      #expect(throws: DecodeError.self) { try Checkpoint(decoding: cut.span) }
    }
  }
}
