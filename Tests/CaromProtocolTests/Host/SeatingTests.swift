import CaromCore
import CaromTesting
import Testing

@testable import CaromProtocol

@Suite struct SeatingTests {
  #if DEBUG
    private static let seeds = 10
  #else
    private static let seeds = 200
  #endif

  private func link(_ number: UInt64) -> ConnectionID { ConnectionID(number) }

  @Test func `a seat is kept from the asking on`() {
    var seating = Seating(seats: 1)
    #expect(seating.request(link(1), makePeer(1)) == .reserved)
    #expect(seating.request(link(2), makePeer(2)) == .full)
    #expect(seating.admit(link(1), makePeer(1).id) == .seated)
    seating.release(link(1), makePeer(1).id)
    #expect(seating.request(link(3), makePeer(2)) == .reserved)
  }

  @Test func `the same peer takes its own seat over once it is admitted`() {
    var seating = Seating(seats: 1)
    let peer = makePeer(1)
    _ = seating.request(link(1), peer)
    #expect(seating.request(link(2), peer) == .replacing(link(1)))
    #expect(seating.request(link(3), peer) == .replacing(link(1)))
    #expect(seating.admit(link(2), peer.id) == .superseded)
    #expect(seating.admit(link(3), peer.id) == .evicting(link(1)))
    seating.release(link(1), peer.id)
    seating.release(link(2), peer.id)
    #expect(seating.free(forSpectators: false) == 0)
    seating.release(link(3), peer.id)
    #expect(seating.free(forSpectators: false) == 1)
  }

  @Test func `a declined peer leaves the seat to whoever had it`() {
    var seating = Seating(seats: 1)
    let peer = makePeer(1)
    _ = seating.request(link(1), peer)
    _ = seating.request(link(2), peer)
    seating.release(link(2), peer.id)
    #expect(seating.free(forSpectators: false) == 0)
    seating.release(link(1), peer.id)
    #expect(seating.free(forSpectators: false) == 1)
  }

  @Test func `a warm seat yields, to one at a time`() {
    var seating = Seating(seats: 1)
    let warm = makePeer(1, yields: true)
    _ = seating.request(link(1), warm)
    #expect(seating.request(link(2), makePeer(2, yields: true)) == .full)
    #expect(seating.request(link(3), makePeer(3)) == .replacing(link(1)))
    #expect(seating.request(link(4), makePeer(4)) == .full)
    seating.release(link(1), warm.id)  // before the other was admitted
    #expect(seating.request(link(4), makePeer(4)) == .full)
    #expect(seating.admit(link(3), makePeer(3).id) == .seated)
  }

  @Test func `whatever happens the seats are never exceeded, and all come back`() throws {
    try Seeds(Self.seeds).check { seed in
      var generator = SeededGenerator(seed: seed)
      var seating = Seating(seats: 3, spectatorSeats: 2)
      var links: [(link: ConnectionID, info: PeerInfo)] = []
      var seated: [ConnectionID: PeerInfo] = [:]
      for number in 1...300 {
        if links.isEmpty || Bool.random(using: &generator) {
          let id = UInt64.random(in: 1...6, using: &generator)
          let info = PeerInfo(
            id: PeerID(high: 0, low: id), name: "", application: "test",
            yieldsSeat: id < 3, isSpectator: Int.random(in: 0..<4, using: &generator) == 0)
          let link = ConnectionID(UInt64(number))
          if seating.request(link, info) != .full { links.append((link, info)) }
        } else {
          let index = Int.random(in: links.indices, using: &generator)
          let (link, info) = links[index]
          if Bool.random(using: &generator) {
            switch seating.admit(link, info.id) {
            case .seated: seated[link] = info
            case .evicting(let old):
              seated[old] = nil
              seated[link] = info
            case .superseded: break
            }
          } else {
            links.remove(at: index)
            seated[link] = nil
            seating.release(link, info.id)
          }
        }
        let spectators = seated.values.count { $0.isSpectator }
        #expect(spectators <= 2 && seated.count - spectators <= 3, "seed \(seed)")
        #expect(Set(seated.values.map(\.id)).count == seated.count, "seed \(seed)")
      }
      for (link, info) in links { seating.release(link, info.id) }
      #expect(seating.free(forSpectators: false) == 3, "seed \(seed)")
      #expect(seating.free(forSpectators: true) == 2, "seed \(seed)")
    }
  }
}
