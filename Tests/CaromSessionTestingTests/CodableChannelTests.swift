import CaromCBOR
import CaromSessionTesting
import Testing

/// A type that has no wire format of its own.
private struct ChatLine: Codable, Hashable {
  var author: String
  var words: [String]
  var replyTo: Int?
}

/// A type whose `encode(to:)` throws, as that of `Double` does in JSON for infinity.
private struct Temperature: Codable, Hashable {
  struct TooHot: Error {}
  var degrees: Double

  func encode(to encoder: any Encoder) throws {
    guard degrees < 1_000 else { throw TooHot() }
    var container = encoder.singleValueContainer()
    try container.encode(degrees)
  }

  init(degrees: Double) { self.degrees = degrees }
  init(from decoder: any Decoder) throws {
    degrees = try decoder.singleValueContainer().decode(Double.self)
  }
}

/// A type that has a wire format of its own, and is `Codable` for other purposes.
private struct Both: Codable, PacketCodable, Hashable {
  var value: UInt8
  init(_ value: UInt8) { self.value = value }
  func encode(into writer: inout PacketWriter) { writer.append(value) }
  init(decoding reader: inout PacketReader) throws(DecodeError) { value = try reader.read() }
}

extension MessageChannel<ChatLine> {
  fileprivate static var chatLines: Self { .init(2, .reliableOrdered) }
}
extension MessageChannel<Temperature> {
  fileprivate static var temperatures: Self { .init(3, .reliableOrdered) }
}
extension MessageChannel<Both> { fileprivate static var both: Self { .init(4, .reliableOrdered) } }
extension MessageChannel<RawBytes> {
  fileprivate static var rawChat: Self { .init(2, .reliableOrdered) }
  fileprivate static var rawBoth: Self { .init(4, .reliableOrdered) }
}
extension Exchange<ChatLine, Temperature> { fileprivate static var weather: Self { .init(5) } }

/// The bytes of a message, whatever they mean.
private struct RawBytes: PacketCodable, Hashable {
  var bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }
  func encode(into writer: inout PacketWriter) { writer.write(bytes) }
  init(decoding reader: inout PacketReader) throws(DecodeError) { bytes = reader.readRest() }
}

/// Channels and exchanges of `Codable` types.
@Suite struct CodableChannelTests {
  /// Runs `body` with the sessions of a host and its client.
  private func withSessions(
    _ body:
      @escaping @Sendable (_ hosting: Session, _ session: Session, _ host: Peer) async throws
      -> Void
  ) async throws {
    try await SessionWorld.run(seed: 1) { world in
      let pair = WorldPair(in: world)
      try await Session.host(as: .maya, loop: pair.server.loop) { hosting, port in
        try await pair.join(port) { session, host in try await body(hosting, session, host) }
      }
    }
  }

  private static let line = ChatLine(author: "Maya", words: ["hello", "there"], replyTo: nil)

  @Test func `a codable type is sent by every call`() async throws {
    try await withSessions { hosting, session, host in
      let line = Self.line
      try await host.send(line, on: .chatLines)
      try await host.trySend(line, on: .chatLines)
      #expect(host.post(line, on: .chatLines))
      #expect(session.post(line, on: .chatLines))
      #expect(try await session.broadcast(line, on: .chatLines).isEmpty)
      #expect(await session.tryBroadcast(line, on: .chatLines).isEmpty)
      #expect(try await host.sendConfirmed(line, on: .chatLines))
      var count = 0
      for await received in hosting.messages(on: .chatLines) {
        #expect(received.message == line)
        count += 1
        if count == 7 { break }
      }
    }
  }

  @Test func `a codable message is its CBOR and nothing else`() async throws {
    try await withSessions { hosting, session, host in
      try await host.send(Self.line, on: .chatLines)
      for await received in hosting.messages(on: .rawChat) {
        #expect(received.message.bytes == (try PacketEncoder().encode(Self.line)))
        break
      }
    }
  }

  @Test func `a type with a format of its own is sent in that format`() async throws {
    try await withSessions { hosting, session, host in
      try await host.send(Both(7), on: .both)
      for await received in hosting.messages(on: .rawBoth) {
        #expect(received.message.bytes == [7])
        break
      }
    }
  }

  @Test func `a message that throws when it is encoded is not sent, and the session goes on`()
    async throws
  {
    let failure = SendError.notEncodable("TooHot()")
    try await withSessions { hosting, session, host in
      let sun = Temperature(degrees: 5_772)
      _ = await #expect(throws: failure) { try await host.send(sun, on: .temperatures) }
      _ = await #expect(throws: failure) { try await host.trySend(sun, on: .temperatures) }
      _ = await #expect(throws: failure) { try await host.sendConfirmed(sun, on: .temperatures) }
      _ = await #expect(throws: failure) { try await session.broadcast(sun, on: .temperatures) }
      #expect(await session.tryBroadcast(sun, on: .temperatures) == [host: failure])
      #expect(!host.post(sun, on: .temperatures))
      #expect(!session.post(sun, on: .temperatures))
      try await host.send(Temperature(degrees: 20), on: .temperatures)
      for await received in hosting.messages(on: .temperatures) {
        #expect(received.message == Temperature(degrees: 20))
        break
      }
    }
    #expect("\(failure)" == "the message cannot be encoded: TooHot()")
  }

  @Test func `bytes that are no value of the type end the connection`() async throws {
    try await withSessions { hosting, session, host in
      async let _ = { for await _ in hosting.messages(on: .chatLines) {} }()
      try await host.send(RawBytes([0xFF]), on: .rawChat)
      let event = try await session.event { if case .left = $0 { true } else { false } }
      #expect(event == .left(host, .protocolViolation))
    }
  }

  @Test func `an exchange carries codable requests and responses`() async throws {
    try await withSessions { hosting, session, host in
      async let _ = hosting.respond(to: .weather) { _, line in
        Temperature(degrees: line.words.isEmpty ? 5_772 : 20)
      }
      let weather = try await host.request(Self.line, over: .weather)
      #expect(weather == Temperature(degrees: 20))
      var empty = Self.line
      empty.words = []
      _ = await #expect(throws: RequestError.failed) {
        try await host.request(empty, over: .weather)
      }
    }
  }
}
