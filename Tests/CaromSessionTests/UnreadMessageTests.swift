import CaromCore
import CaromTransport
import Testing

@testable import CaromProtocol
@testable import CaromSession

/// Messages that nobody has read yet: how many are kept, which ones, and what becomes of them (page
/// Sessions, Receive).
@Suite(.timeLimit(.minutes(1))) struct UnreadMessageTests {
  private static func makeNote(_ number: Int, length: Int = 2) -> Note {
    Note([UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 7, count: length - 2))
  }

  private static func number(of note: Note) -> Int { Int(note.text[0]) << 8 | Int(note.text[1]) }

  @Test(arguments: Delivery.allCases)
  func `an inbox that is full pauses, drops the oldest or replaces, as its delivery says`(
    delivery: Delivery
  ) async {
    await withUnconnectedPeer { peer in
      let registry = InboxRegistry()
      let inbox = registry.inbox(for: MessageChannel<Note>(5, delivery))
      let accepted = (0..<1_025).map {
        inbox.push(Received(peer: peer, message: Self.makeNote($0), arrival: .zero), bytes: 2)
      }
      #expect(accepted.prefix(1_023).allSatisfy { $0 })
      let pauses = delivery == .reliableOrdered || delivery == .reliableUnordered
      #expect(Array(accepted.suffix(2)) == (pauses ? [false, false] : [true, true]))
      #expect(inbox.count == (pauses ? 1_025 : 1_024) && inbox.dropped == (pauses ? 0 : 1))
      #expect(inbox.pop().map { Self.number(of: $0.message) } == (pauses ? 0 : 1))
      registry.end()
    }
  }

  @Test(arguments: [Delivery.reliableOrdered, .unreliable])
  func `an inbox is full at 256 KiB`(delivery: Delivery) async {
    await withUnconnectedPeer { peer in
      let registry = InboxRegistry()
      let inbox = registry.inbox(for: MessageChannel<Note>(5, delivery))
      let message = Received(peer: peer, message: Note([]), arrival: .zero)
      for _ in 0..<7 { #expect(inbox.push(message, bytes: 32 << 10)) }
      #expect(inbox.push(message, bytes: (32 << 10) - 1))
      #expect(inbox.count == 8 && inbox.dropped == 0)
      #expect(inbox.push(message, bytes: 1) == (delivery == .unreliable))
      #expect(inbox.count == 9 && inbox.dropped == 0)
      #expect(inbox.push(message, bytes: 1) == (delivery == .unreliable))
      #expect(inbox.dropped == (delivery == .unreliable ? 1 : 0))
      registry.end()
    }
  }

  /// Page Sessions, Receive: a message is displaced only by a newer one of the same peer.
  @Test func `on a sequenced channel, messages do not displace those of another peer`() async {
    await withUnconnectedPeer { quiet in
      let busy = Peer(info: makePeer("busy"), connectionID: ConnectionID(2), hub: quiet.hub)
      let registry = InboxRegistry()
      let inbox = registry.inbox(for: .latest)
      #expect(inbox.push(Received(peer: quiet, message: Note([9]), arrival: .zero), bytes: 1))
      for number in 1...1_024 {
        #expect(
          inbox.push(Received(peer: busy, message: Self.makeNote(number), arrival: .zero), bytes: 2)
        )
      }
      #expect(inbox.count == 1_024)
      #expect(inbox.pop()?.message == Note([9]))
      #expect(inbox.pop()?.message == Self.makeNote(2))
      registry.end()
    }
  }

  /// Sends notes that the host does not read yet, and waits until they have arrived.
  private func send(
    _ numbers: Range<Int>, length: Int = 2, on channel: MessageChannel<Note>, from pair: SessionPair
  ) async throws {
    for number in numbers.dropLast() {
      try await pair.host.trySend(Self.makeNote(number, length: length), on: channel)
    }
    let last = Self.makeNote(numbers.upperBound - 1, length: length)
    try await pair.host.sendConfirmed(last, on: channel).expectTrue()
  }

  /// Session.messages(on:): of all channels without a reader, except reliable ones, the newest 256
  /// messages are kept.
  @Test func `the newest 256 early messages are kept, and room is free again once they are read`()
    async throws
  {
    try await withPair(over: .stream) { pair in
      let channels = (10...12).map { MessageChannel<Note>($0, .unreliable) }
      try await send(0..<200, on: channels[0], from: pair)
      try await send(0..<100, on: channels[1], from: pair)
      let first = await pair.hosting.messages(on: channels[0]).first(156).map(Self.number)
      #expect(first == Array(44..<200))
      try await send(0..<156, on: channels[2], from: pair)
      let second = await pair.hosting.messages(on: channels[1]).first(100).map(Self.number)
      #expect(second == Array(0..<100))
      let third = await pair.hosting.messages(on: channels[2]).first(156).map(Self.number)
      #expect(third == Array(0..<156))
    }
  }

  @Test func `64 KiB of early messages are kept, and room is free again once they are read`()
    async throws
  {
    try await withPair(over: .stream) { pair in
      for id in UInt8(10)...11 {
        let channel = MessageChannel<Note>(id, .unreliable)
        for start in [0, 40] {
          try await send(start..<start + 40, length: 1_024, on: channel, from: pair)
        }
        let read = await pair.hosting.messages(on: channel).first(64).map(Self.number)
        #expect(read == Array(16..<80))
      }
    }
  }

  @Test func `all early messages of a reliable channel are kept`() async throws {
    try await withPair(over: .stream) { pair in
      for number in 0..<400 { try await pair.host.send(Self.makeNote(number), on: .notes) }
      try await pair.host.sendConfirmed(Note([1]), on: .latest).expectTrue()
      let read = await pair.hosting.messages(on: .notes).first(400).map(Self.number)
      #expect(read == Array(0..<400))
    }
  }

  @Test func `4,096 unread events are kept; beyond them, the oldest are dropped and counted`()
    async throws
  {
    try await withPair(over: .stream) { pair in
      while pair.hosting.poll() != nil {}
      await pair.hosting.node.stopInputs(of: pair.client.connectionID, count: 4_097)
      var events: [PeerEvent] = []
      while let event = pair.hosting.poll() { events.append(event) }
      let newest = (1...4_096).map { PeerEvent.inputStopped(pair.client, channel: UInt8($0 & 63)) }
      #expect(events == [.missed(events: 1)] + newest)
    }
  }

  /// A message that cannot be decoded shows that the two sides declare different types.
  @Test func `a message that its reader cannot decode ends the connection`() async throws {
    try await withPair { pair in
      let reader = Task {
        var lengths: [Int] = []
        for await received in pair.hosting.messages(on: MessageChannel<Short>.shorts) {
          lengths.append(received.message.count)
        }
        return lengths
      }
      for text in [[1], [1, 2, 3]] as [[UInt8]] {
        try await pair.host.send(Note(text), on: .init(0, .reliableOrdered))
      }
      #expect(await pair.hosting.ending() == .protocolViolation)
      #expect(await pair.visiting.ending() == .protocolViolation)
      reader.cancel()
      #expect(await reader.value == [1])
    }
  }

  @Test func `an early message that its reader cannot decode ends the connection too`()
    async throws
  {
    try await withPair { pair in
      try await pair.host.sendConfirmed(Note([1, 2, 3]), on: .latest).expectTrue()
      _ = pair.hosting.takeMessages(on: MessageChannel<Short>(1, .unreliableSequenced))
      #expect(await pair.hosting.ending() == .protocolViolation)
    }
  }

  @Test func `messages are copied to one reader, with their sender`() async throws {
    try await withPair(seats: 2) { pair in
      try await Session.join(pair.endpoints, as: makePeer("second"), loop: pair.loop) { _, host in
        let second = await pair.hosting.joined()
        #expect(second != pair.client)
        try await pair.host.send(Note([1]), on: .notes)
        try await host.send(Note([2]), on: .notes)
        var senders: [Peer: [UInt8]] = [:]
        for await received in pair.hosting.messages(on: .notes) {
          senders[received.peer] = received.message.text
          if senders.count == 2 { break }
        }
        #expect(senders == [pair.client: [1], second: [2]])
        #expect(await pair.hosting.peers == [pair.client, second])
      }
    }
  }
}

/// A message of at most two bytes.
private struct Short: PacketCodable {
  let count: Int

  func encode(into writer: inout PacketWriter) {}
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    count = reader.readRest().count
    if count > 2 { throw .invalid(what: "length") }
  }
}

extension MessageChannel<Short> {
  fileprivate static var shorts: Self { .init(0, .reliableOrdered) }
}

extension SessionNode {
  /// Reports inputs that have stopped, on channels 0 to 63 in turn.
  fileprivate func stopInputs(of connection: ConnectionID, count: Int) {
    for number in 0..<count { emit(.inputStopped(connection, channel: UInt8(number & 63))) }
  }
}
