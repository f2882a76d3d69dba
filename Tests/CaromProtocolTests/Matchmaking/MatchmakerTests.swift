import CaromCore
import Testing

@testable import CaromProtocol

private func makeMatchmaker(_ id: UInt64, window: Duration = .seconds(6)) -> Matchmaker {
  var matchmaker = Matchmaker(
    as: makeID(id), window: window, generator: SeededGenerator(seed: id), at: .zero)
  _ = matchmaker.pollAction()
  return matchmaker
}

private func makeID(_ number: UInt64) -> PeerID { PeerID(high: 0, low: number) }

private func makeSighting(_ id: UInt64, _ status: Sighting.Status = .searching) -> Sighting {
  Sighting(id: makeID(id), status: status, freeSeats: status == .playing ? 0 : 1)
}

@Suite struct MatchmakerTests {
  @Test func `a peer advertises searching at once, and waiting after the window`() {
    var one = Matchmaker(as: makeID(1), generator: SeededGenerator(seed: 1), at: .zero)
    #expect(nextAction(&one) == .advertise(.searching, freeSeats: 1))
    #expect(one.nextTimeout == Instant.zero + .seconds(6))
    one.handleTimeout(at: .zero + .seconds(6))
    #expect(nextAction(&one) == .advertise(.waiting, freeSeats: 1))
    #expect(one.nextTimeout == nil)
  }

  @Test func `the peer with the lower id dials and the other admits it`() {
    var low = makeMatchmaker(1)
    var high = makeMatchmaker(2)
    low.handle(makeSighting(2), at: .zero)
    high.handle(makeSighting(1), at: .zero)
    #expect(nextAction(&low) == .dial(makeID(2)))
    #expect(nextAction(&high) == nil)
    high.handleRequest(from: makeID(1), at: .zero)
    #expect(nextAction(&high) == .admit(makeID(1)))
    #expect(nextAction(&high) == .advertise(.playing, freeSeats: 0))
    low.handleDialed(makeID(2), at: .zero)
    #expect(nextAction(&low) == .advertise(.playing, freeSeats: 0))
    #expect(low.partner == makeID(2) && high.partner == makeID(1))
  }

  @Test func `the next higher id is dialed first`() {
    var one = makeMatchmaker(1)
    one.handle(makeSighting(9, .playing), at: .zero)
    one.handle(makeSighting(5, .playing), at: .zero)
    #expect(nextAction(&one) == nil)
    one.handle(makeSighting(9), at: .zero)
    #expect(nextAction(&one) == .dial(makeID(9)))
    one.handle(makeSighting(5), at: .zero)
    one.handleDialFailed(makeID(9), at: .zero)
    #expect(nextAction(&one) == .dial(makeID(5)))
  }

  @Test func `a peer that hosts permanently is dialed regardless of its id`() {
    var nine = makeMatchmaker(9)
    nine.handle(makeSighting(3, .hosting), at: .zero)
    #expect(nextAction(&nine) == .dial(makeID(3)))
  }

  @Test func `a request is held while a dial is in progress and answered when the dial ends`() {
    var two = makeMatchmaker(2)
    two.handle(makeSighting(3), at: .zero)
    #expect(nextAction(&two) == .dial(makeID(3)))
    two.handleRequest(from: makeID(1), at: .zero)
    #expect(nextAction(&two) == nil)
    var other = two
    two.handleDialed(makeID(3), at: .zero)
    #expect(nextAction(&two) == .refuse(makeID(1), .full))
    other.handleDialFailed(makeID(3), at: .zero)
    #expect(nextAction(&other) == .admit(makeID(1)))
  }

  @Test func `a held request is refused as busy after the limit`() {
    var two = makeMatchmaker(2)
    two.handle(makeSighting(3), at: .zero)
    _ = two.pollAction()
    two.handleRequest(from: makeID(1), at: .zero)
    #expect(two.nextTimeout == Instant.zero + Matchmaker.holdLimit)
    two.handleTimeout(at: .zero + Matchmaker.holdLimit)
    #expect(nextAction(&two) == .refuse(makeID(1), .busy))
  }

  @Test func `of two peers that dial each other the higher id cancels its dial`() {
    var high = makeMatchmaker(5)
    high.handle(makeSighting(4), at: .zero)
    high.handleTimeout(at: .zero + Matchmaker.dialBackDelay)
    #expect(nextAction(&high) == .dial(makeID(4)))
    high.handleRequest(from: makeID(4), at: .zero)
    #expect(nextAction(&high) == .cancelDial(makeID(4)))
    #expect(nextAction(&high) == .admit(makeID(4)))
  }

  @Test func `of two peers that dial each other the lower id holds the other's request`() {
    var low = makeMatchmaker(4)
    low.handle(makeSighting(5), at: .zero)
    #expect(nextAction(&low) == .dial(makeID(5)))
    low.handleRequest(from: makeID(5), at: .zero)
    #expect(nextAction(&low) == nil)
    #expect(low.partner == nil)
    low.handleDialed(makeID(5), at: .zero)
    #expect(nextAction(&low) == .advertise(.playing, freeSeats: 0))
    #expect(nextAction(&low) == nil)
    #expect(low.partner == makeID(5))
  }

  @Test func `a refused dial is repeated after growing pauses`() throws {
    var one = makeMatchmaker(1, window: .seconds(600))
    one.handle(makeSighting(2), at: .zero)
    var now = Instant.zero
    var pauses: [Duration] = []
    for _ in 0..<6 {
      #expect(nextAction(&one) == .dial(makeID(2)))
      one.handleDialFailed(makeID(2), at: now)
      let next = try #require(one.nextTimeout)
      pauses.append(next - now)
      now = next
      one.handleTimeout(at: now)
    }
    for (index, pause) in pauses.enumerated() {
      let shortest = min(Matchmaker.firstRetry * (1 << index), Matchmaker.lastRetry)
      #expect(pause >= shortest && pause <= shortest * 2)
    }
  }

  @Test func `a peer that never answers is dialed last from then on`() throws {
    var one = makeMatchmaker(1, window: .seconds(600))
    one.handle(makeSighting(2, .hosting), at: .zero)
    one.handle(makeSighting(3), at: .zero)
    #expect(nextAction(&one) == .dial(makeID(2)))
    var now = Instant.zero + Matchmaker.dialLimit
    #expect(one.nextTimeout == now)
    one.handleTimeout(at: now)
    #expect(nextAction(&one) == .cancelDial(makeID(2)))
    for _ in 0..<3 {
      #expect(nextAction(&one) == .dial(makeID(3)))
      one.handleDialFailed(makeID(3), at: now)
      if nextAction(&one) == .dial(makeID(2)) { one.handleDialFailed(makeID(2), at: now) }
      now = now + .seconds(8)
      one.handleTimeout(at: now)
    }
  }

  @Test func `a candidate with failed dials makes room for a new one`() {
    var one = makeMatchmaker(1)
    let others = UInt64(Matchmaker.candidateLimit) + 1
    for number in 2...others { one.handle(makeSighting(number, .playing), at: .zero) }
    one.handle(makeSighting(9_999), at: .zero)
    #expect(nextAction(&one) == nil)
    one.handle(makeSighting(2, .hosting), at: .zero)
    #expect(nextAction(&one) == .dial(makeID(2)))
    one.handleDialFailed(makeID(2), at: .zero)
    one.handle(makeSighting(9_999), at: .zero)
    #expect(nextAction(&one) == .dial(makeID(9_999)))
  }

  @Test func `a held request is granted when the dial times out`() {
    var two = makeMatchmaker(2)
    two.handle(makeSighting(3), at: .zero)
    #expect(nextAction(&two) == .dial(makeID(3)))
    let late = Instant.zero + Matchmaker.dialLimit
    two.handleRequest(
      from: makeID(1), at: .zero + (Matchmaker.dialLimit - Matchmaker.holdLimit / 2))
    two.handleTimeout(at: late)
    #expect(nextAction(&two) == .cancelDial(makeID(3)))
    #expect(nextAction(&two) == .admit(makeID(1)))
  }

  @Test func `a peer that left a match is not dialed again without a pause`() throws {
    var one = makeMatchmaker(1, window: .seconds(600))
    one.handle(makeSighting(2, .hosting), at: .zero)
    #expect(nextAction(&one) == .dial(makeID(2)))
    one.handleDialed(makeID(2), at: .zero)
    while one.pollAction() != nil {}
    one.handleMatchEnded(at: .zero)
    #expect(nextAction(&one) == .advertise(.searching, freeSeats: 1))
    #expect(nextAction(&one) == nil)
    #expect(try #require(one.nextTimeout) >= Instant.zero + Matchmaker.firstRetry)
  }

  @Test func `after a match the search starts again`() {
    var two = makeMatchmaker(2)
    two.handleRequest(from: makeID(1), at: .zero)
    while two.pollAction() != nil {}
    two.handleMatchEnded(at: .zero + .seconds(60))
    #expect(nextAction(&two) == .advertise(.waiting, freeSeats: 1))
    #expect(two.partner == nil)
  }
}
