import CaromCore
import CaromProtocol
import CaromTransport
import Testing

@testable import CaromSession

/// The events about peers that are refused, and about messages that are.
@Suite(.timeLimit(.minutes(1))) struct RefusalEventTests {
  private static let notes = MessageChannel<EncodedMessage>(5, .reliableOrdered)
  private static let numbers = MessageChannel<UInt32>(5, .reliableOrdered)

  /// Returns the events about refusals, and the event after them.
  private static func refusals(
    _ count: Int, of session: Session
  ) async -> [PeerEvent] {
    var refusals: [PeerEvent] = []
    for await event in session.events {
      if case .refused = event { refusals.append(event) }
      if refusals.count == count { break }
    }
    return refusals
  }

  @Test(arguments: [LinkKinds.stream, .datagram])
  func `a host learns who was refused, and why`(kinds: LinkKinds) async throws {
    try await withPair(over: kinds) { pair in
      let late = makePeer("late")
      await #expect(throws: SessionError.refused(.full)) {
        try await Session.join(pair.endpoints, as: late, over: kinds, loop: pair.loop) { _, _ in }
      }
      let events = await Self.refusals(1, of: pair.hosting)
      guard case .refused(let info, .full)? = events.first else {
        Issue.record("\(events)")
        return
      }
      #expect(info.name == "late")
    }
    try await withNetworkLoop { loop in
      try await Session.host(
        as: makePeer("host"), on: [.loopback4], over: kinds, loop: loop,
        admit: { _ in .decline("not today") }
      ) { session, port in
        await #expect(throws: SessionError.refused(.declined("not today"))) {
          try await Session.join(
            [Endpoint(.loopback4, port: port)], as: makePeer("client"), over: kinds, loop: loop
          ) { _, _ in }
        }
        let events = await Self.refusals(1, of: session)
        guard case .refused(let info, .declined("not today"))? = events.first else {
          Issue.record("\(events)")
          return
        }
        #expect(info.name == "client")
      }
    }
  }

  @Test func `a message that cannot be decoded is reported with its channel`() async throws {
    try await withPair { pair in
      let inbox = pair.hosting.messages(on: Self.numbers)
      try await pair.host.send(EncodedMessage([1, 2]), on: Self.notes)
      var events = pair.hosting.events.makeAsyncIterator()
      while let event = await events.next() {
        guard case .malformed(pair.client, let channel) = event else {
          if case .left = event { Issue.record("the peer left without a reason") }
          continue
        }
        #expect(channel == 5)
        break
      }
      #expect(await events.next() == .left(pair.client, .protocolViolation))
      _ = inbox
    }
  }

  @Test func `refusals displace no events of peers`() async throws {
    try await withPair { pair in
      let events = pair.hosting.eventInbox
      for number in 0..<events.limit / 2 {
        _ = events.push(.inputStopped(pair.client, channel: UInt8(number & 63)))
      }
      let count = events.count
      await #expect(throws: SessionError.refused(.full)) {
        try await Session.join(pair.endpoints, as: makePeer("late"), loop: pair.loop) { _, _ in }
      }
      #expect(count >= events.limit / 2 && events.count <= events.limit / 2 + 1)
      #expect(events.dropped == 0)
    }
  }
}
