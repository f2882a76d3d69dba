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
      try await Session.host(as: me, on: [.loopback4], timing: timing, loop: loop) {
        hosting, port in
        let leo = PeerInfo(id: .random(), name: "Leo", application: "one import")
        let endpoint = Endpoint(.loopback4, port: port)
        try await Session.join([endpoint], as: leo, loop: loop) { _, host in
          try await host.send(Line("hello"), on: lines)
          for await line in hosting.messages(on: lines) {
            #expect(line.message == Line("hello"))
            #expect("\(line.peer)" == "Leo (\(leo.id.description.prefix(8)))")
            #expect("\(PeerEvent.joined(line.peer))" == "\(line.peer) joined")
            let left = PeerEvent.left(line.peer, DisconnectReason.finished)
            #expect("\(left)" == "\(line.peer) left: finished")
            break
          }
        }
      }
    }
  }

  @Test func `errors are lines that a person can read`() {
    #expect("\(SendError.notConnected)" == "the peer is not connected")
    #expect(
      "\(SendError.tooLarge(size: 9, limit: 8))"
        == "the message has 9 bytes, and its channel carries at most 8: split it")
    let request = RequestError.notSent(.expired)
    #expect(
      "\(request)" == "the request was not sent: "
        + "the message's lifetime passed before there was room for it")
    #expect("\(PeerEvent.missed(events: 3))" == "3 events were missed")
  }
}
