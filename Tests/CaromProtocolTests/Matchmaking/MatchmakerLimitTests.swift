import CaromCore
import Testing

@testable import CaromProtocol

/// The times and limits of the matchmaker, each at its bound and beside it.
@Suite struct MatchmakerLimitTests {
  private func makeID(_ number: UInt64) -> PeerID { PeerID(high: 0, low: number) }

  private func makeMatchmaker(_ id: UInt64, seed: UInt64 = 1) -> Matchmaker {
    var matchmaker = Matchmaker(
      as: makeID(id), window: .seconds(600), generator: SeededGenerator(seed: seed), at: .zero)
    #expect(actions(of: &matchmaker) == [.advertise(.searching, freeSeats: 1)])
    return matchmaker
  }

  private func actions(of matchmaker: inout Matchmaker) -> [MatchmakerAction] {
    var actions: [MatchmakerAction] = []
    while let action = matchmaker.pollAction() { actions.append(action) }
    return actions
  }

  private func makeSighting(
    _ id: UInt64, _ status: Sighting.Status = .searching, seats: Int = 1
  ) -> Sighting {
    Sighting(id: makeID(id), status: status, freeSeats: seats)
  }

  /// The time at which a duration has passed since the beginning, or a nanosecond before it.
  private func time(_ duration: Duration, isEarly: Bool = false) -> Instant {
    .zero + duration + (isEarly ? .nanoseconds(-1) : .zero)
  }

  @Test func `a peer advertises searching for six seconds, to the nanosecond`() {
    var one = Matchmaker(as: makeID(1), generator: SeededGenerator(seed: 1), at: .zero)
    one.handleTimeout(at: time(.seconds(6), isEarly: true))
    #expect(actions(of: &one) == [.advertise(.searching, freeSeats: 1)])
    one.handleTimeout(at: time(.seconds(6)))
    one.handleTimeout(at: time(.seconds(7)))
    #expect(actions(of: &one) == [.advertise(.waiting, freeSeats: 1)])
  }

  @Test(arguments: [
    (Sighting.Status.searching, 1, true), (.waiting, 1, true), (.hosting, 1, true),
    (.hosting, 9, true), (.searching, 0, false), (.waiting, 0, false), (.hosting, 0, false),
    (.playing, 1, false),
  ])
  func `a peer is dialed if it has a free seat and is not in a match`(
    status: Sighting.Status, seats: Int, isDialed: Bool
  ) {
    var one = makeMatchmaker(1)
    one.handle(makeSighting(2, status, seats: seats), at: .zero)
    #expect(actions(of: &one) == (isDialed ? [.dial(makeID(2))] : []))
    #expect(isDialed || one.nextTimeout == time(.seconds(600)))
  }

  @Test func `a peer's own advertisement and one that was removed are ignored`() {
    var nine = makeMatchmaker(9)
    nine.handle(makeSighting(9, .hosting), at: .zero)
    nine.handle(makeSighting(3), at: .zero)
    nine.handleRemoved(makeID(3), at: .zero)
    nine.handleTimeout(at: time(.seconds(100)))
    #expect(actions(of: &nine) == [])
    #expect(nine.nextTimeout == time(.seconds(600)))
  }

  @Test func `a peer with a lower id is dialed after three seconds, the highest of them first`() {
    var nine = makeMatchmaker(9)
    for id in [3, 7, 5] as [UInt64] { nine.handle(makeSighting(id), at: .zero) }
    #expect(nine.nextTimeout == time(.seconds(3)))
    nine.handleTimeout(at: time(.seconds(3), isEarly: true))
    #expect(actions(of: &nine) == [])
    nine.handleTimeout(at: time(.seconds(3)))
    #expect(actions(of: &nine) == [.dial(makeID(7))])
    #expect(nine.nextTimeout == time(.seconds(8)))
  }

  @Test func `a host is dialed before the next higher id, and that before all others`() {
    var five = makeMatchmaker(5)
    for id in [1, 4, 8, 6] as [UInt64] { five.handle(makeSighting(id, .playing), at: .zero) }
    five.handle(makeSighting(9, .playing), at: .zero)
    // Nobody may be dialed until a request ends this dial, so all are free then.
    five.handle(makeSighting(7), at: .zero)
    #expect(actions(of: &five) == [.dial(makeID(7))])
    for id in [1, 4, 8, 6] as [UInt64] { five.handle(makeSighting(id), at: .zero) }
    five.handle(makeSighting(9, .hosting), at: .zero)
    for (failed, next) in [(7, 9), (9, 6), (6, 8)] as [(UInt64, UInt64)] {
      five.handleDialFailed(makeID(failed), at: .zero)
      #expect(actions(of: &five) == [.dial(makeID(next))])
    }
  }

  @Test func `a dial takes at most five seconds`() {
    var one = makeMatchmaker(1)
    one.handle(makeSighting(2), at: .zero)
    #expect(actions(of: &one) == [.dial(makeID(2))])
    one.handleTimeout(at: time(.seconds(5), isEarly: true))
    #expect(actions(of: &one) == [])
    one.handleTimeout(at: time(.seconds(5)))
    #expect(actions(of: &one) == [.cancelDial(makeID(2))])
    one.handleDialed(makeID(2), at: time(.seconds(5)))
    #expect(one.partner == nil && actions(of: &one) == [], "the dial succeeded too late")
  }

  @Test func `a request is held for two seconds, and counts once`() {
    var two = makeMatchmaker(2)
    two.handle(makeSighting(3), at: .zero)
    two.handleRequest(from: makeID(1), at: .zero)
    two.handleRequest(from: makeID(1), at: time(.seconds(1)))
    two.handleTimeout(at: time(.seconds(2), isEarly: true))
    #expect(actions(of: &two) == [.dial(makeID(3))])
    two.handleTimeout(at: time(.seconds(2)))
    two.handleTimeout(at: time(.seconds(3)))
    #expect(actions(of: &two) == [.refuse(makeID(1), .busy)])
    #expect(two.nextTimeout == time(.seconds(5)))
  }

  @Test func `held requests are admitted in their order, and withdrawn ones are not`() {
    var two = makeMatchmaker(2)
    two.handle(makeSighting(9), at: .zero)
    for id in [5, 4, 6] as [UInt64] { two.handleRequest(from: makeID(id), at: .zero) }
    two.handleRequestWithdrawn(by: makeID(5))
    #expect(actions(of: &two) == [.dial(makeID(9))])
    two.handleDialFailed(makeID(9), at: .zero)
    #expect(
      actions(of: &two) == [
        .admit(makeID(4)), .refuse(makeID(6), .full), .advertise(.playing, freeSeats: 0),
      ])
    two.handleRequest(from: makeID(7), at: .zero)
    #expect(actions(of: &two) == [.refuse(makeID(7), .full)])
    #expect(two.nextTimeout == nil)
  }

  @Test func `a match ends with a pause before the next dial to the same peer`() {
    var one = makeMatchmaker(1)
    one.handleMatchEnded(at: .zero)
    #expect(actions(of: &one) == [], "there is no match")
    one.handle(makeSighting(2), at: .zero)
    one.handleDialed(makeID(3), at: .zero)
    #expect(actions(of: &one) == [.dial(makeID(2))], "another peer was dialed")
    one.handleDialed(makeID(2), at: .zero)
    one.handle(makeSighting(4), at: .zero)
    #expect(actions(of: &one) == [.advertise(.playing, freeSeats: 0)])
    one.handleMatchEnded(at: .zero)
    #expect(
      actions(of: &one) == [.advertise(.searching, freeSeats: 1), .dial(makeID(4))])
  }

  @Test func `pauses double from 250 ms to 4 s, with as much jitter again`() throws {
    var pauses: [[Duration]] = Array(repeating: [], count: 8)
    for seed in 1...100 as ClosedRange<UInt64> {
      var one = makeMatchmaker(1, seed: seed)
      var now = Instant.zero
      one.handle(makeSighting(2), at: now)
      for failures in 0..<8 {
        #expect(actions(of: &one) == [.dial(makeID(2))])
        one.handleDialFailed(makeID(2), at: now)
        let next = try #require(one.nextTimeout)
        pauses[failures].append(next - now)
        now = next
        one.handleTimeout(at: now)
      }
    }
    for (failures, drawn) in pauses.enumerated() {
      let base = Duration.milliseconds(
        [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000][failures])
      let (least, most) = (try #require(drawn.min()), try #require(drawn.max()))
      #expect(least >= base && least < base * 1.1)
      #expect(most <= base * 2 && most > base * 1.9)
    }
  }

  @Test func `a changed advertisement ends the pause, and a repeated one does not`() throws {
    var one = makeMatchmaker(1)
    one.handle(makeSighting(2), at: .zero)
    for _ in 0..<6 { one.handleDialFailed(makeID(2), at: .zero) }
    #expect(actions(of: &one) == [.dial(makeID(2))])
    one.handle(makeSighting(2), at: .zero)
    #expect(actions(of: &one) == [])
    one.handle(makeSighting(2, .waiting), at: .zero)
    #expect(actions(of: &one) == [.dial(makeID(2))])
    one.handleDialFailed(makeID(2), at: .zero)
    let pause = try #require(one.nextTimeout) - Instant.zero
    #expect(pause >= .milliseconds(250) && pause <= .milliseconds(500))
  }

  @Test func `at most 256 peers are candidates, and one without failures stays`() {
    var one = makeMatchmaker(1)
    for id in 2...257 as ClosedRange<UInt64> { one.handle(makeSighting(id, .playing), at: .zero) }
    one.handle(makeSighting(500), at: .zero)
    #expect(actions(of: &one) == [])
    one.handleRemoved(makeID(77), at: .zero)
    one.handle(makeSighting(500), at: .zero)
    #expect(actions(of: &one) == [.dial(makeID(500))])
  }
}
