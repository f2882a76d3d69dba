import CaromCore
import Testing

@testable import CaromProtocol

/// A host and callers on wires without delay.
private struct Room {
  var host: Host
  var callers: [ConnectionID: Connection] = [:]
  var now = Instant(nanoseconds: 1_000_000)
  var events: [HostEvent] = []
  var endings: [ConnectionID: DisconnectReason] = [:]

  init(seats: Int) { host = Host(makePeer(1), seats: seats) }

  mutating func call(_ number: UInt64, as peer: PeerInfo) -> ConnectionID {
    let link = ConnectionID(number)
    let accepted = host.accept(link, at: now)
    #expect(accepted)
    callers[link] = .requesting(as: peer, timing: SessionTiming(), at: now)
    settle()
    return link
  }

  mutating func settle() {
    for _ in 0..<20 {
      for link in callers.keys.sorted() {
        if let up = callers[link]?.pollStream(queued: 0, at: now) {
          host.receive(up.span, on: link, at: now)
        }
        if let down = host.pollTransmit(on: link, queued: 0, at: now) {
          callers[link]?.receive(down.span, at: now)
        }
        while let event = callers[link]?.pollEvent() {
          if case .closed(let reason) = event { endings[link] = reason }
        }
        _ = host.pollLinkAction(on: link)
        host.didFlush(link, at: now)
      }
      while let event = host.pollEvent() {
        if case .connection(_, .measured) = event { continue }
        events.append(event)
      }
    }
  }
}

@Suite struct HostTests {
  @Test func `one more than the seats is refused as full, and the game goes on`() {
    var room = Room(seats: 1)
    let first = room.call(1, as: makePeer(10))
    room.host.admit(first, at: room.now)
    room.settle()
    let second = room.call(2, as: makePeer(11))
    #expect(room.endings == [second: .full])
    #expect(room.host.freeSeats == 0)
    #expect(room.host.connection(first)?.isOpen == true)
  }

  @Test func `a seat is reserved while its request is unanswered`() {
    var room = Room(seats: 1)
    _ = room.call(1, as: makePeer(10))
    let second = room.call(2, as: makePeer(11))
    #expect(room.endings == [second: .full])
  }

  @Test func `a computer that keeps the seat warm is replaced by a person`() {
    var room = Room(seats: 1)
    let computer = room.call(1, as: makePeer(10, yields: true))
    room.host.admit(computer, at: room.now)
    room.settle()
    let person = room.call(2, as: makePeer(11))
    room.host.admit(person, at: room.now)
    room.settle()
    #expect(room.endings == [computer: .replaced])
    #expect(room.host.connection(person)?.isOpen == true)
    #expect(room.events.contains(.requested(person, makePeer(11), replacing: computer)))
    #expect(room.host.freeSeats == 0)
  }

  @Test func `two persons cannot both replace one computer`() {
    var room = Room(seats: 1)
    let computer = room.call(1, as: makePeer(10, yields: true))
    room.host.admit(computer, at: room.now)
    room.settle()
    let first = room.call(2, as: makePeer(11))
    let second = room.call(3, as: makePeer(12))
    room.host.admit(first, at: room.now)
    room.settle()
    #expect(room.endings == [computer: .replaced, second: .full])
  }

  @Test func `a computer does not replace a computer`() {
    var room = Room(seats: 1)
    let first = room.call(1, as: makePeer(10, yields: true))
    room.host.admit(first, at: room.now)
    room.settle()
    let second = room.call(2, as: makePeer(11, yields: true))
    #expect(room.endings == [second: .full])
  }

  @Test func `a peer that comes back takes its own old seat`() {
    var room = Room(seats: 1)
    let old = room.call(1, as: makePeer(10))
    room.host.admit(old, at: room.now)
    room.settle()
    let new = room.call(2, as: makePeer(10))
    room.host.admit(new, at: room.now)
    room.settle()
    #expect(room.endings == [old: .replaced])
    #expect(room.host.connection(new)?.isOpen == true)
  }

  @Test func `an answer that comes late seats nobody twice`() {
    var room = Room(seats: 1)
    let old = room.call(1, as: makePeer(10))
    room.host.admit(old, at: room.now)
    room.settle()
    let (second, third) = (room.call(2, as: makePeer(10)), room.call(3, as: makePeer(10)))
    for link in [second, third] {
      room.host.admit(link, at: room.now)
      room.settle()
    }
    #expect(room.endings == [old: .replaced, second: .replaced])
    #expect(room.host.connection(third)?.isOpen == true && room.host.freeSeats == 0)
  }

  @Test func `an answer that comes after the end of its link seats nobody`() {
    var room = Room(seats: 1)
    let computer = room.call(1, as: makePeer(10, yields: true))
    room.host.admit(computer, at: room.now)
    room.settle()
    let person = room.call(2, as: makePeer(11))
    room.host.handleLinkEnd(.reset, of: person, at: room.now)
    room.host.admit(person, at: room.now)
    room.settle()
    #expect(room.host.connection(computer)?.isOpen == true && room.host.freeSeats == 0)
  }

  @Test func `a freed seat can be taken again`() {
    var room = Room(seats: 1)
    let first = room.call(1, as: makePeer(10))
    room.host.admit(first, at: room.now)
    room.settle()
    room.host.handleLinkEnd(.reset, of: first, at: room.now)
    room.settle()
    #expect(
      room.events.contains(.closed(first, makePeer(10), .connectionReset, wasOpen: true)))
    let second = room.call(2, as: makePeer(11))
    #expect(room.events.contains(.requested(second, makePeer(11), replacing: nil)))
  }

  @Test func `links are bounded`() {
    var host = Host(makePeer(1), seats: 1)
    let answers = (0...UInt64(Host.connectionLimit)).map {
      host.accept(ConnectionID($0), at: .zero)
    }
    #expect(answers == Array(repeating: true, count: Host.connectionLimit) + [false])
  }
}
