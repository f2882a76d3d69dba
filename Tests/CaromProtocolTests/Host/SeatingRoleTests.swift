import CaromCore
import Testing

@testable import CaromProtocol

/// Seats of players and of spectators, and peers that change from one to the other.
@Suite struct SeatingRoleTests {
  private func id(_ number: UInt64) -> ConnectionID { ConnectionID(number) }

  private func makeSpectator(_ number: UInt64, yields: Bool = false) -> PeerInfo {
    PeerInfo(
      id: PeerID(high: 0, low: number), name: "", application: "test", yieldsSeat: yields,
      isSpectator: true)
  }

  /// The numbers of free seats: of players, then of spectators.
  private func free(_ seating: Seating) -> [Int] {
    [seating.free(forSpectators: false), seating.free(forSpectators: true)]
  }

  @Test func `of several peers that yield, the first to take its seat is replaced first`() {
    var seating = Seating(seats: 3)
    #expect(seating.request(id(1), makePeer(1)) == .reserved)
    #expect(seating.request(id(2), makePeer(2, yields: true)) == .reserved)
    #expect(seating.request(id(3), makePeer(3, yields: true)) == .reserved)
    #expect(seating.request(id(4), makePeer(4)) == .replacing(id(2)))
    #expect(seating.request(id(5), makePeer(5)) == .replacing(id(3)))
    #expect(seating.request(id(6), makePeer(6)) == .full)
    #expect(seating.admit(id(5), makePeer(5).id) == .evicting(id(3)))
    #expect(seating.admit(id(4), makePeer(4).id) == .evicting(id(2)))
    #expect(seating.admit(id(4), makePeer(4).id) == .seated, "it has the seat already")
    #expect(seating.admit(id(3), makePeer(3).id) == .superseded, "it has lost the seat")
    #expect(free(seating) == [0, 0])
  }

  @Test func `a peer that yields keeps its seat while another is free`() {
    var seating = Seating(seats: 2)
    #expect(seating.request(id(1), makePeer(1, yields: true)) == .reserved)
    #expect(seating.request(id(2), makePeer(2)) == .reserved)
    #expect(seating.request(id(3), makePeer(3)) == .replacing(id(1)))
  }

  @Test func `players and spectators do not take each other's seats`() {
    var seating = Seating(seats: 1, spectatorSeats: 1)
    #expect(free(seating) == [1, 1])
    #expect(seating.request(id(1), makePeer(1, yields: true)) == .reserved)
    #expect(seating.request(id(2), makeSpectator(2, yields: true)) == .reserved)
    #expect(free(seating) == [0, 0])
    #expect(seating.request(id(3), makeSpectator(3)) == .replacing(id(2)))
    #expect(seating.request(id(4), makePeer(4)) == .replacing(id(1)))
    var closed = Seating(seats: 1)
    #expect(closed.request(id(1), makePeer(1, yields: true)) == .reserved)
    #expect(closed.request(id(2), makeSpectator(2)) == .full)
  }

  @Test func `a player that becomes a spectator has both seats until it is admitted`() {
    var seating = Seating(seats: 1, spectatorSeats: 1)
    let player = makePeer(1)
    _ = seating.request(id(1), player)
    #expect(seating.request(id(2), makeSpectator(1)) == .replacing(id(1)))
    #expect(free(seating) == [0, 0])
    #expect(seating.request(id(3), makeSpectator(3)) == .full)
    #expect(seating.admit(id(2), player.id) == .evicting(id(1)))
    #expect(free(seating) == [1, 0])
    seating.release(id(1), player.id)
    #expect(free(seating) == [1, 0], "the first connection holds nothing any more")
    seating.release(id(2), player.id)
    #expect(free(seating) == [1, 1])
  }

  @Test func `a change of role that is withdrawn frees the seat of the new role alone`() {
    var seating = Seating(seats: 1, spectatorSeats: 1)
    let player = makePeer(1)
    _ = seating.request(id(1), player)
    _ = seating.request(id(2), makeSpectator(1))
    seating.release(id(2), player.id)
    #expect(free(seating) == [0, 1])
    _ = seating.request(id(3), makeSpectator(1))
    _ = seating.request(id(4), player)
    #expect(free(seating) == [0, 1], "its newest request is for the seat that it has")
    #expect(seating.admit(id(3), player.id) == .superseded)
    #expect(seating.admit(id(4), player.id) == .evicting(id(1)))
    #expect(free(seating) == [0, 1])
  }

  @Test func `a player without a spectator's seat to change to keeps its own`() {
    var seating = Seating(seats: 1, spectatorSeats: 1)
    _ = seating.request(id(1), makePeer(1))
    _ = seating.request(id(2), makeSpectator(2))
    #expect(seating.request(id(3), makeSpectator(1)) == .full)
    #expect(seating.admit(id(1), makePeer(1).id) == .seated)
    #expect(free(seating) == [0, 0])
  }

  @Test func `a seat passes to its successor if the holder leaves first`() {
    var seating = Seating(seats: 1)
    _ = seating.request(id(1), makePeer(1, yields: true))
    _ = seating.request(id(2), makePeer(2))
    seating.release(id(1), makePeer(1).id)
    #expect(free(seating) == [0, 0])
    #expect(seating.request(id(3), makePeer(3)) == .full, "a person does not yield")
    #expect(seating.admit(id(2), makePeer(2).id) == .seated)
    seating.release(id(7), makePeer(2).id)
    #expect(free(seating) == [0, 0], "another connection holds nothing")
    seating.release(id(2), makePeer(2).id)
    #expect(free(seating) == [1, 0])
  }
}
