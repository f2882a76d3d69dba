import CaromCore
import Testing

@testable import CaromProtocol

/// Compares the first carriers that both sides of a match send on a stream with the vectors in
/// `carriers.txt`.
@Suite struct CarrierVectorTests {
  let carriers: [String: [UInt8]]
  let messages: [String: [UInt8]]
  private let now = Instant(nanoseconds: 1_000_000_000)

  init() throws {
    carriers = try WireVectors.load("carriers.txt")
    messages = try WireVectors.load("game.txt")
  }

  private struct Pair {
    var host: Connection
    var client: Connection

    /// Creates two connections that are open and have nothing left to send.
    init(at now: Instant) {
      host = .respondingOnStream(as: LocalSide(nameless), at: now)
      client = .initiatingOnStream(as: LocalSide(leo), key: key, at: now)
      Self.deliver(from: &client, to: &host, at: now)
      host.admit(at: now)
      for _ in 0..<2 {
        Self.deliver(from: &host, to: &client, at: now)
        Self.deliver(from: &client, to: &host, at: now)
      }
    }

    /// Delivers the bytes that `sender` has to send, and returns them.
    @discardableResult
    static func deliver(
      from sender: inout Connection, to receiver: inout Connection, at now: Instant
    ) -> [UInt8] {
      let bytes = sender.pollStream(queued: 0, at: now) ?? []
      receiver.receive(bytes.span, at: now)
      return bytes
    }

    static func readMessages(from connection: inout Connection) -> [[UInt8]] {
      var messages: [[UInt8]] = []
      while let message = connection.pollMessage() { messages.append(message.bytes) }
      return messages
    }
  }

  private func message(_ name: String) throws -> [UInt8] { try #require(messages[name], "\(name)") }

  @Test func `the first carriers of a match equal their vectors and decode`() throws {
    var pair = Pair(at: now)
    let keyframe = try message("first keyframe")
    let inputs = try message("first inputs of a host")
    try pair.host.send(keyframe, on: 1, at: now)
    try pair.host.send(inputs, on: 0, .unreliableSequenced, at: now)
    let first = Pair.deliver(from: &pair.host, to: &pair.client, at: now)
    #expect(first == carriers["the host's carrier 0"])
    #expect(Pair.readMessages(from: &pair.client) == [keyframe, inputs])

    let clientInputs = try message("first inputs of a client")
    try pair.client.send(clientInputs, on: 0, .unreliableSequenced, at: now)
    let answer = Pair.deliver(from: &pair.client, to: &pair.host, at: now)
    #expect(answer == carriers["the client's carrier 0"])
    #expect(Pair.readMessages(from: &pair.host) == [clientInputs])

    let later = now + .milliseconds(50)
    pair.host.handleTimeout(at: later)
    let acknowledgement = Pair.deliver(from: &pair.host, to: &pair.client, at: later)
    #expect(acknowledgement == carriers["the host's carrier 1"])

    // An empty keyframe message requests a keyframe.
    let requests: [(channel: UInt8, bytes: [UInt8])] = [
      (2, try message("word of a client whose time is up")), (1, [2]), (1, [2]),
    ]
    for (channel, bytes) in requests { try pair.client.send(bytes, on: channel, at: later) }
    let last = Pair.deliver(from: &pair.client, to: &pair.host, at: later)
    #expect(last == carriers["the client's carrier 1"])
    #expect(Pair.readMessages(from: &pair.host) == requests.map(\.bytes))
    #expect(pair.host.isOpen && pair.client.isOpen)
  }

  @Test func `a carrier grants credit once a quarter of the window has been read`() throws {
    var pair = Pair(at: now)
    let bytes = [UInt8](repeating: 0, count: 960)
    for _ in 0..<64 { try pair.client.send(bytes, on: 0, at: now) }
    while !Pair.deliver(from: &pair.client, to: &pair.host, at: now).isEmpty {}
    #expect(Pair.readMessages(from: &pair.host).count == 64)
    let credit = Pair.deliver(from: &pair.host, to: &pair.client, at: now)
    #expect(credit == carriers["the host's carrier 0, after 64 messages of 960 bytes"])
  }
}
