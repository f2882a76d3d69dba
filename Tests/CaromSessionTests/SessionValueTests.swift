import CaromCore
import CaromTransport
import Testing

@testable import CaromProtocol
@testable import CaromSession

/// The values of a session that need no connection: errors, policies, channels and events.
@Suite struct SessionValueTests {
  /// Session.join: tries again if the host cannot be reached, does not answer or is busy.
  private static let retries: [(SessionError, Bool)] = [
    (SessionError.transport(.connectionRefused), true), (.transport(.timedOut), true),
    (.transport(.unreachable), true), (.transport(.cancelled), false), (.refused(.busy), true),
    (.refused(.handshakeTimeout), true), (.refused(.timedOut), true),
    (.refused(.connectionLost), true), (.refused(.connectionReset), true),
    (.refused(.full), false), (.refused(.declined("no")), false), (.refused(.left), false),
    (.refused(.finished), false), (.refused(.replaced), false), (.refused(.kicked("")), false),
    (.refused(.versionMismatch(theirs: 1)), false), (.refused(.wrongApplication), false),
    (.refused(.protocolViolation), false), (.refused(.closedLocally), false),
  ]

  @Test(arguments: retries)
  func `join tries again only after errors that may pass`(error: SessionError, isRetried: Bool) {
    #expect(error.isWorthRetrying == isRetried)
  }

  private static let texts: [(SessionError, String)] = [
    (SessionError.transport(.timedOut), TransportError.timedOut.description),
    (.refused(.full), "every seat of that host is taken: try again later"),
    (.refused(.busy), "that host is busy, or is joining another match: try again"),
    (
      .refused(.versionMismatch(theirs: 0)),
      "that host speaks another version: install the same version on both sides"
    ),
    (
      .refused(.versionMismatch(theirs: 9)),
      "that host speaks version 9: install the same version on both sides"
    ),
    (.refused(.wrongApplication), "that host runs another game, or has the same peer id"),
    (.refused(.closedLocally), "this side has ended the session"),
    (
      .refused(.protocolViolation),
      "the program at that address does not speak Carom: check the address and port"
    ),
    (
      .refused(.handshakeTimeout),
      "the host did not answer in time; it may be overloaded: "
        + "check the address and port, or try again later"
    ),
    (
      .refused(.timedOut),
      "the host did not answer in time; it may be overloaded: "
        + "check the address and port, or try again later"
    ),
    (.refused(.declined("no bots")), "the host ended the connection: declined: no bots"),
  ]

  @Test(arguments: texts)
  func `each error says what happened and what to do`(error: SessionError, text: String) {
    #expect(error.description == text)
  }

  @Test func `delays double up to the longest, and each is between half and all of its length`() {
    var generator = SeededGenerator(seed: 3)
    let policy = RetryPolicy(attempts: 101)
    let nominal = [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000].map { Duration.milliseconds($0) }
    for (index, whole) in nominal.enumerated() {
      let delays = (0..<200).compactMap { _ in policy.delay(after: index + 1, using: &generator) }
      #expect(delays.count == 200 && delays.allSatisfy { $0 >= whole / 2 && $0 <= whole })
      #expect(delays.min()! < whole * 0.55 && delays.max()! > whole * 0.95)
    }
    #expect(policy.delay(after: 100, using: &generator)! >= .seconds(4))
    #expect(policy.delay(after: 101, using: &generator) == nil)
    #expect(RetryPolicy.never.delay(after: 1, using: &generator) == nil)
    let patient = RetryPolicy(attempts: 101, firstDelay: .nanoseconds(2), longestDelay: .seconds(9))
    for attempt in [21, 22, 100] {
      let delay = patient.delay(after: attempt, using: &generator)!
      #expect(delay >= .nanoseconds(1 << 20) && delay <= .nanoseconds(1 << 21))
    }
  }

  @Test func `the bits of the kinds of links are 1 and 2`() {
    #expect(LinkKinds.datagram.rawValue == 1 && LinkKinds.stream.rawValue == 2)
    #expect(LinkKinds.all == [.datagram, .stream] && LinkKinds.all.rawValue == 3)
  }

  @Test func `a channel's messages have its delivery, priority, weight and lifetime`() {
    let plain = MessageChannel<Note>(63, .reliableUnordered)
    #expect(plain.id == 63 && plain.priority == 4 && plain.weight == 1)
    let options = plain.options(lifetime: nil, at: Instant(nanoseconds: 5))
    #expect(options.delivery == .reliableUnordered && options.deadline == nil)
    #expect(!options.wantsReceipt && options.plan == ChannelPlan(priority: 4, weight: 1))
    let urgent = MessageChannel<Note>(0, .unreliable, priority: 0, weight: 255)
      .options(lifetime: .nanoseconds(7), wantsReceipt: true, at: Instant(nanoseconds: 5))
    #expect(urgent.delivery == .unreliable && urgent.deadline == Instant(nanoseconds: 12))
    #expect(urgent.wantsReceipt && urgent.plan == ChannelPlan(priority: 0, weight: 255))
  }

  @Test func `an exchange is reliable, and ordered unless it is declared otherwise`() {
    let ordered = Exchange<Note, Applied>(63)
    #expect(ordered.id == 63 && ordered.channel == .init(63, .reliableOrdered))
    let unordered = Exchange<Note, Applied>(1, isOrdered: false, priority: 7, weight: 3)
    #expect(unordered.channel == .init(1, .reliableUnordered, priority: 7, weight: 3))
    #expect(Applied().encoded.isEmpty)
  }

  private static let messages: [(ExchangeMessage, [UInt8])] = [
    (ExchangeMessage(.request, 0x0403_0201, [5, 6]), [0, 1, 2, 3, 4, 5, 6] as [UInt8]),
    (ExchangeMessage(.response, 1), [1, 1, 0, 0, 0]),
    (ExchangeMessage(.failed, 2), [2, 2, 0, 0, 0]),
    (ExchangeMessage(.busy, .max), [3, 255, 255, 255, 255]),
  ]

  @Test(arguments: messages)
  func `a request or response is its kind, its number and its body`(
    message: ExchangeMessage, bytes: [UInt8]
  ) throws {
    #expect(message.encoded == bytes)
    let decoded = try ExchangeMessage(decoding: bytes.span)
    #expect(decoded.kind == message.kind && decoded.number == message.number)
    #expect(decoded.body == message.body)
  }

  private static let malformed: [[UInt8]] = [
    [], [0], [0, 1, 0, 0], [4, 1, 0, 0, 0], [2, 1, 0, 0, 0, 9], [3, 1, 0, 0, 0, 9],
  ]

  @Test(arguments: malformed)
  func `a malformed request or response cannot be decoded`(bytes: [UInt8]) {
    #expect(throws: DecodeError.self) { try ExchangeMessage(decoding: bytes.span) }
  }

  @Test func `a node reports the events of its lobby that concern its owner, unchanged`() {
    let (id, other) = (ConnectionID(7), ConnectionID(8))
    let info = makePeer("peer")
    let roundTrip = RoundTrip()
    let table: [(LobbyEvent, SessionEvent?)] = [
      (.host(.requested(id, info, replacing: other)), .requested(id, info, replacing: other)),
      (.host(.closed(id, info, .left, wasOpen: true)), .closed(id, info, .left, wasOpen: true)),
      (.host(.closed(id, nil, .full, wasOpen: false)), .closed(id, nil, .full, wasOpen: false)),
      (.host(.adopted(id, by: other)), nil), (.cancelConnect(id), nil),
      (.advertise(.waiting, freeSeats: 3), .advertise(.waiting, freeSeats: 3)),
      (.connect(info.id, id), .connect(info.id, id)),
      (.host(.connection(id, .opened(info))), .opened(id, info)),
      (.host(.connection(id, .measured(roundTrip))), .measured(id, roundTrip)),
      (.host(.connection(id, .linkChanged(.stream))), .linkChanged(id, .stream)),
      (.host(.connection(id, .interrupted)), .interrupted(id)),
      (.host(.connection(id, .resumed)), .resumed(id)),
      (.host(.connection(id, .channel(.writable))), .writable(id)),
      (
        .host(.connection(id, .channel(.expired(channel: 5, message: 6)))),
        .expired(id, channel: 5, message: 6)
      ),
      (
        .host(.connection(id, .channel(.receipt(channel: 5, message: 6, delivered: true)))),
        .receipt(id, channel: 5, message: 6, delivered: true)
      ),
      (.host(.connection(id, .messages)), nil), (.host(.connection(id, .reconnect)), nil),
    ]
    for (event, expected) in table { #expect(SessionEvent(event) == expected) }
    let matching = table.compactMap(\.1).filter(\.isMatching)
    #expect(matching == [.advertise(.waiting, freeSeats: 3), .connect(info.id, id)])
    let ended = table.compactMap { $0.1?.endedConnection }
    #expect(ended == [id, id])
  }
}

@Suite struct PeerNameTests {
  @Test(arguments: [
    ("Maya", "Maya"), ("  Maya \n", "Maya"), ("a\u{1b}[31mb\u{0}", "a[31mb"), ("", ""), (" \t", ""),
    ("Ma\u{2028}ya", "Maya"),
  ])
  func `a name has no control characters and no spaces at its ends`(text: String, name: String) {
    #expect(PeerInfo.name(from: text) == name)
  }

  @Test func `a long name is cut at a character`() {
    let wide = String(repeating: "é", count: 40)
    #expect(PeerInfo.name(from: wide) == String(repeating: "é", count: 31))
    let family = String(repeating: "👩‍👩‍👧", count: 4)
    #expect(PeerInfo.name(from: family) == String(repeating: "👩‍👩‍👧", count: 3))
    #expect(PeerInfo.name(from: String(repeating: "x", count: 62) + " y").utf8.count == 62)
    let name = PeerInfo.name(from: String(repeating: "x", count: 100_000))
    #expect(name.utf8.count == PeerInfo.maximumNameLength)
  }

  @Test func `a description without an id has a random one`() {
    let one = PeerInfo(name: "Maya", application: "chat", applicationVersion: 2)
    let other = PeerInfo(name: "Maya", application: "chat", applicationVersion: 2)
    #expect(one.id != other.id)
    #expect(one.name == "Maya" && one.application == "chat" && one.applicationVersion == 2)
    #expect(!one.isSpectator && !one.yieldsSeat)
  }
}
