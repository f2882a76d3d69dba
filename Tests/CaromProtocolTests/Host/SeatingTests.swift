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

  private func id(_ number: UInt64) -> ConnectionID { ConnectionID(number) }

  @Test func `a seat is reserved from the request on`() {
    var seating = Seating(seats: 1)
    #expect(seating.request(id(1), makePeer(1)) == .reserved)
    #expect(seating.request(id(2), makePeer(2)) == .full)
    #expect(seating.admit(id(1), makePeer(1).id) == .seated)
    seating.release(id(1), makePeer(1).id)
    #expect(seating.request(id(3), makePeer(2)) == .reserved)
  }

  @Test func `a peer that reconnects takes over its own seat once it is admitted`() {
    var seating = Seating(seats: 1)
    let peer = makePeer(1)
    _ = seating.request(id(1), peer)
    #expect(seating.request(id(2), peer) == .replacing(id(1)))
    #expect(seating.request(id(3), peer) == .replacing(id(1)))
    #expect(seating.admit(id(2), peer.id) == .superseded)
    #expect(seating.admit(id(3), peer.id) == .evicting(id(1)))
    seating.release(id(1), peer.id)
    seating.release(id(2), peer.id)
    #expect(seating.free(forSpectators: false) == 0)
    seating.release(id(3), peer.id)
    #expect(seating.free(forSpectators: false) == 1)
  }

  @Test func `a declined request leaves the seat to its holder`() {
    var seating = Seating(seats: 1)
    let peer = makePeer(1)
    _ = seating.request(id(1), peer)
    _ = seating.request(id(2), peer)
    seating.release(id(2), peer.id)
    #expect(seating.free(forSpectators: false) == 0)
    seating.release(id(1), peer.id)
    #expect(seating.free(forSpectators: false) == 1)
  }

  @Test func `a seat that yields has one successor at a time`() {
    var seating = Seating(seats: 1)
    let yielding = makePeer(1, yields: true)
    _ = seating.request(id(1), yielding)
    #expect(seating.request(id(2), makePeer(2, yields: true)) == .full)
    #expect(seating.request(id(3), makePeer(3)) == .replacing(id(1)))
    #expect(seating.request(id(4), makePeer(4)) == .full)
    seating.release(id(1), yielding.id)  // before its successor is admitted
    #expect(seating.request(id(4), makePeer(4)) == .full)
    #expect(seating.admit(id(3), makePeer(3).id) == .seated)
  }

  @Test func `random requests never exceed the seats, and all seats are released in the end`()
    throws
  {
    try Seeds(Self.seeds).check { seed in
      var generator = SeededGenerator(seed: seed)
      var seating = Seating(seats: 3, spectatorSeats: 2)
      var requests: [(id: ConnectionID, info: PeerInfo)] = []
      var seated: [ConnectionID: PeerInfo] = [:]
      for number in 1...300 {
        if requests.isEmpty || Bool.random(using: &generator) {
          let peer = UInt64.random(in: 1...6, using: &generator)
          let info = PeerInfo(
            id: PeerID(high: 0, low: peer), name: "", application: "test",
            yieldsSeat: peer < 3, isSpectator: Int.random(in: 0..<4, using: &generator) == 0)
          let id = ConnectionID(UInt64(number))
          if seating.request(id, info) != .full { requests.append((id, info)) }
        } else {
          let index = Int.random(in: requests.indices, using: &generator)
          let (id, info) = requests[index]
          if Bool.random(using: &generator) {
            switch seating.admit(id, info.id) {
            case .seated: seated[id] = info
            case .evicting(let old):
              seated[old] = nil
              seated[id] = info
            case .superseded: break
            }
          } else {
            requests.remove(at: index)
            seated[id] = nil
            seating.release(id, info.id)
          }
        }
        let spectators = seated.values.count { $0.isSpectator }
        #expect(spectators <= 2 && seated.count - spectators <= 3, "seed \(seed)")
        #expect(Set(seated.values.map(\.id)).count == seated.count, "seed \(seed)")
      }
      for (id, info) in requests { seating.release(id, info.id) }
      #expect(seating.free(forSpectators: false) == 3, "seed \(seed)")
      #expect(seating.free(forSpectators: true) == 2, "seed \(seed)")
    }
  }
}
