import CaromSession
import Testing

/// The page Sessions, with one import: the types that it names come with the module.
@Suite struct OneImportTests {
  private struct Line: PacketCodable, Hashable {
    var text: String
    init(_ text: String) { self.text = text }
    func encode(into writer: inout PacketWriter) { text.encode(into: &writer) }
    init(decoding reader: inout PacketReader) throws(DecodeError) {
      text = try String(decoding: &reader)
    }
  }

  @Test func `a host and a client need no other import`() async throws {
    let lines = MessageChannel<Line>(0, .reliableOrdered)
    let me = PeerInfo(id: .random(), name: "Maya", application: "one import")
    var timing = SessionTiming()
    timing.resumeLimit = .seconds(1)
    try await withNetworkLoop { (loop: NetworkLoop) in
      try await Session.host(as: me, on: [.loopback4], timing: timing, security: .none, loop: loop)
      {
        hosting, port in
        let leo = PeerInfo(id: .random(), name: "Leo", application: "one import")
        let endpoint = Endpoint(.loopback4, port: port)
        try await Session.join([endpoint], as: leo, security: .none, loop: loop) { _, host in
          try await host.send(Line("hello"), on: lines)
          for await line in hosting.messages(on: lines) {
            #expect(line.message == Line("hello"))
            #expect("\(line.peer)" == "Leo (\(leo.id.description.prefix(8)))")
            #expect("\(PeerEvent.joined(line.peer))" == "\(line.peer) joined (none)")
            let left = PeerEvent.left(line.peer, DisconnectReason.finished)
            #expect("\(left)" == "\(line.peer) left: finished")
            break
          }
        }
      }
    }
  }

  @Test func `errors are lines that a person can read`() {
    let sendErrors: [(SendError, String)] = [
      (.notConnected, "the peer is not connected"),
      (
        .tooLarge(size: 9, limit: 8),
        "the message has 9 bytes, and one of its kind has at most 8: split it"
      ),
      (
        .queueFull(queued: 7),
        "the send queue to the peer is full (7 bytes): wait for room, or send less"
      ),
      (.expired, "the message's lifetime passed before there was room for it"),
      (.cancelled, "the task was cancelled"),
      (.notEncodable("too hot"), "the message cannot be encoded: too hot"),
    ]
    for (error, text) in sendErrors {
      #expect("\(error)" == text)
      #expect("\(RequestError.notSent(error))" == "the request was not sent: \(text)")
    }
    let requestErrors: [(RequestError, String)] = [
      (.timedOut, "no response arrived in time"),
      (.failed, "the peer could not carry out the request"),
      (.busy, "too many requests are pending: try again later"),
      (.disconnected(.finished), "the connection ended before the response: finished"),
      (
        .malformedResponse,
        "the response cannot be decoded: the two sides declare different types"
      ),
      (.cancelled, "the task was cancelled"),
    ]
    for (error, text) in requestErrors { #expect("\(error)" == text) }
  }

  @Test func `events are lines that a person can read`() async throws {
    try await withPair { pair in
      let peer = pair.client
      let events: [(PeerEvent, String)] = [
        (.joined(peer), "joined (\(peer.protection))"),
        (.linkChanged(peer, .stream), "uses \(LinkKind.stream) now"),
        (.interrupted(peer), "is interrupted: no link works"), (.resumed(peer), "is back"),
        (.inputStopped(peer, channel: 3), "stopped sending on channel 3"),
        (.inputResumed(peer, channel: 3), "sends on channel 3 again"),
        (.malformed(peer, channel: 3), "sent an invalid message on channel 3"),
        (.left(peer, .kicked("spam")), "left: kicked: spam"),
      ]
      for (event, text) in events { #expect("\(event)" == "\(peer) \(text)") }
      #expect("\(PeerEvent.refused(peer.info, .full))" == "\(peer) was refused: full")
      #expect("\(PeerEvent.missed(events: 3))" == "3 events were missed")
    }
  }
}
