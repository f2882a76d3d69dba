import CaromCore
import Testing

@testable import CaromProtocol

/// The first carriers of a match on a stream, byte by byte, as both machines write them.
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
    var guest: Connection

    /// Two ends that have agreed and have nothing to say.
    init(at now: Instant) {
      host = .accepting(as: nameless, timing: SessionTiming(), at: now)
      guest = .requesting(as: leo, timing: SessionTiming(), key: key, at: now)
      Self.carry(from: &guest, to: &host, at: now)
      host.admit(at: now)
      for _ in 0..<2 {
        Self.carry(from: &host, to: &guest, at: now)
        Self.carry(from: &guest, to: &host, at: now)
      }
    }

    /// Carries what `sender` has, and returns it.
    @discardableResult
    static func carry(
      from sender: inout Connection, to receiver: inout Connection, at now: Instant
    ) -> [UInt8] {
      let bytes = sender.pollStream(queued: 0, at: now) ?? []
      receiver.receive(bytes.span, at: now)
      return bytes
    }

    static func take(from connection: inout Connection) -> [[UInt8]] {
      var taken: [[UInt8]] = []
      while let message = connection.pollMessage() { taken.append(message.bytes) }
      return taken
    }
  }

  private func message(_ name: String) throws -> [UInt8] { try #require(messages[name], "\(name)") }

  @Test func `the first carriers of a match are those of the vectors, and are read`() throws {
    var pair = Pair(at: now)
    let keyframe = try message("first keyframe")
    let inputs = try message("first inputs of a host")
    try pair.host.send(keyframe, on: 1, at: now)
    try pair.host.send(inputs, on: 0, .unreliableSequenced, at: now)
    let first = Pair.carry(from: &pair.host, to: &pair.guest, at: now)
    #expect(first == carriers["the host's carrier 0"])
    #expect(Pair.take(from: &pair.guest) == [keyframe, inputs])

    let own = try message("first inputs of a guest")
    try pair.guest.send(own, on: 0, .unreliableSequenced, at: now)
    let answer = Pair.carry(from: &pair.guest, to: &pair.host, at: now)
    #expect(answer == carriers["the guest's carrier 0"])
    #expect(Pair.take(from: &pair.host) == [own])

    let later = now + .milliseconds(50)
    pair.host.handleTimeout(at: later)
    let acknowledgement = Pair.carry(from: &pair.host, to: &pair.guest, at: later)
    #expect(acknowledgement == carriers["the host's carrier 1"])

    // An empty keyframe asks for one.
    let asking: [(channel: UInt8, bytes: [UInt8])] = [
      (2, try message("word of a guest whose time is up")), (1, [2]), (1, [2]),
    ]
    for (channel, bytes) in asking { try pair.guest.send(bytes, on: channel, at: later) }
    let last = Pair.carry(from: &pair.guest, to: &pair.host, at: later)
    #expect(last == carriers["the guest's carrier 1"])
    #expect(Pair.take(from: &pair.host) == asking.map(\.bytes))
    #expect(pair.host.isOpen && pair.guest.isOpen)
  }

  @Test func `a credit leaves in a carrier when a quarter of the window was taken`() throws {
    var pair = Pair(at: now)
    let bytes = [UInt8](repeating: 0, count: 960)
    for _ in 0..<64 { try pair.guest.send(bytes, on: 0, at: now) }
    while !Pair.carry(from: &pair.guest, to: &pair.host, at: now).isEmpty {}
    #expect(Pair.take(from: &pair.host).count == 64)
    let credit = Pair.carry(from: &pair.host, to: &pair.guest, at: now)
    #expect(credit == carriers["the host's carrier 0, after 64 messages of 960 bytes"])
  }
}
