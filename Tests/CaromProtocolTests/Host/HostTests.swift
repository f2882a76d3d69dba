import CaromCore
import Testing

@testable import CaromProtocol

/// A host and initiators on streams without delay.
private struct SeatFixture {
  var host: Host
  var initiators: [ConnectionID: Connection] = [:]
  var now = Instant(nanoseconds: 1_000_000)
  var events: [HostEvent] = []
  var endings: [ConnectionID: DisconnectReason] = [:]

  init(seats: Int) { host = Host(makePeer(1), seats: seats, timing: .withoutResuming) }

  mutating func connect(_ number: UInt64, as peer: PeerInfo) -> ConnectionID {
    let id = ConnectionID(number)
    let accepted = host.accept(id, at: now)
    #expect(accepted)
    initiators[id] = .initiatingOnStream(as: LocalSide(peer), at: now)
    exchange()
    return id
  }

  mutating func exchange() {
    for _ in 0..<20 {
      for id in initiators.keys.sorted() {
        if let up = initiators[id]?.pollStream(queued: 0, at: now) {
          host.receive(up.span, on: id, at: now)
        }
        if let down = host.pollTransmit(on: id, queued: 0, at: now) {
          initiators[id]?.receive(down.span, at: now)
        }
        while let event = initiators[id]?.pollEvent() {
          if case .closed(let reason) = event { endings[id] = reason }
        }
        _ = host.pollLinkAction(on: id)
        host.didFlush(id, at: now)
      }
      while let event = host.pollEvent() {
        if case .connection(_, .measured) = event { continue }
        events.append(event)
      }
    }
  }
}

@Suite struct HostTests {
  @Test func `a request beyond the last seat is refused as full and affects no other peer`() {
    var fixture = SeatFixture(seats: 1)
    let first = fixture.connect(1, as: makePeer(10))
    fixture.host.admit(first, at: fixture.now)
    fixture.exchange()
    let second = fixture.connect(2, as: makePeer(11))
    #expect(fixture.endings == [second: .full])
    #expect(fixture.host.freeSeats == 0)
    #expect(fixture.host.connection(first)?.isOpen == true)
  }

  @Test func `a seat is reserved while its request is unanswered`() {
    var fixture = SeatFixture(seats: 1)
    _ = fixture.connect(1, as: makePeer(10))
    let second = fixture.connect(2, as: makePeer(11))
    #expect(fixture.endings == [second: .full])
  }

  @Test func `a person replaces a computer opponent that yields its seat`() {
    var fixture = SeatFixture(seats: 1)
    let computer = fixture.connect(1, as: makePeer(10, yields: true))
    fixture.host.admit(computer, at: fixture.now)
    fixture.exchange()
    let person = fixture.connect(2, as: makePeer(11))
    fixture.host.admit(person, at: fixture.now)
    fixture.exchange()
    #expect(fixture.endings == [computer: .replaced])
    #expect(fixture.host.connection(person)?.isOpen == true)
    #expect(fixture.events.contains(.requested(person, makePeer(11), replacing: computer)))
    #expect(fixture.host.freeSeats == 0)
  }

  @Test func `only one person can replace a computer opponent`() {
    var fixture = SeatFixture(seats: 1)
    let computer = fixture.connect(1, as: makePeer(10, yields: true))
    fixture.host.admit(computer, at: fixture.now)
    fixture.exchange()
    let first = fixture.connect(2, as: makePeer(11))
    let second = fixture.connect(3, as: makePeer(12))
    fixture.host.admit(first, at: fixture.now)
    fixture.exchange()
    #expect(fixture.endings == [computer: .replaced, second: .full])
  }

  @Test func `a computer opponent does not replace another`() {
    var fixture = SeatFixture(seats: 1)
    let first = fixture.connect(1, as: makePeer(10, yields: true))
    fixture.host.admit(first, at: fixture.now)
    fixture.exchange()
    let second = fixture.connect(2, as: makePeer(11, yields: true))
    #expect(fixture.endings == [second: .full])
  }

  @Test func `a peer that reconnects takes over its own seat`() {
    var fixture = SeatFixture(seats: 1)
    let old = fixture.connect(1, as: makePeer(10))
    fixture.host.admit(old, at: fixture.now)
    fixture.exchange()
    let new = fixture.connect(2, as: makePeer(10))
    fixture.host.admit(new, at: fixture.now)
    fixture.exchange()
    #expect(fixture.endings == [old: .replaced])
    #expect(fixture.host.connection(new)?.isOpen == true)
  }

  @Test func `admitting a peer on a superseded connection does not seat it twice`() {
    var fixture = SeatFixture(seats: 1)
    let old = fixture.connect(1, as: makePeer(10))
    fixture.host.admit(old, at: fixture.now)
    fixture.exchange()
    let (second, third) = (
      fixture.connect(2, as: makePeer(10)), fixture.connect(3, as: makePeer(10))
    )
    for id in [second, third] {
      fixture.host.admit(id, at: fixture.now)
      fixture.exchange()
    }
    #expect(fixture.endings == [old: .replaced, second: .replaced])
    #expect(fixture.host.connection(third)?.isOpen == true && fixture.host.freeSeats == 0)
  }

  @Test func `admitting a peer whose connection has ended grants no seat`() {
    var fixture = SeatFixture(seats: 1)
    let computer = fixture.connect(1, as: makePeer(10, yields: true))
    fixture.host.admit(computer, at: fixture.now)
    fixture.exchange()
    let person = fixture.connect(2, as: makePeer(11))
    fixture.host.handleLinkEnd(.reset, of: person, at: fixture.now)
    fixture.host.admit(person, at: fixture.now)
    fixture.exchange()
    #expect(fixture.host.connection(computer)?.isOpen == true && fixture.host.freeSeats == 0)
  }

  @Test func `a released seat can be requested again`() {
    var fixture = SeatFixture(seats: 1)
    let first = fixture.connect(1, as: makePeer(10))
    fixture.host.admit(first, at: fixture.now)
    fixture.exchange()
    fixture.host.handleLinkEnd(.reset, of: first, at: fixture.now)
    fixture.exchange()
    #expect(
      fixture.events.contains(.closed(first, makePeer(10), .connectionReset, wasOpen: true)))
    let second = fixture.connect(2, as: makePeer(11))
    #expect(fixture.events.contains(.requested(second, makePeer(11), replacing: nil)))
  }

  @Test func `the number of connections is limited`() {
    var host = Host(makePeer(1), seats: 1)
    let answers = (0...UInt64(Host.connectionLimit)).map {
      host.accept(ConnectionID($0), at: .zero)
    }
    #expect(answers == Array(repeating: true, count: Host.connectionLimit) + [false])
  }
}
