import CaromTransport
import Testing

@testable import CaromProtocol
@testable import CaromSession

@Suite struct InboxRegistryTests {
  /// Page Sessions, Receive: a message is displaced only by a newer one of the same peer.
  @Test func `on a sequenced channel, messages do not displace those of another peer`() async {
    await withNetworkLoop { loop in
      let registry = InboxRegistry()
      let hub = SessionHub(
        node: SessionNode(makePeer("host"), seats: 2, on: loop),
        events: Inbox(limit: 1, overflow: .dropOldest), inboxes: registry, admit: nil)
      let quiet = Peer(info: makePeer("quiet"), connectionID: ConnectionID(1), hub: hub)
      let busy = Peer(info: makePeer("busy"), connectionID: ConnectionID(2), hub: hub)
      let inbox = registry.inbox(for: .latest)
      #expect(inbox.push(Received(peer: quiet, message: Note([9])), bytes: 1))
      for number in 1...1_024 {
        let note = Note([UInt8(number >> 8), UInt8(number & 255)])
        #expect(inbox.push(Received(peer: busy, message: note), bytes: 2))
      }
      #expect(inbox.count == 1_024)
      #expect(inbox.pop()?.message == Note([9]))
      #expect(inbox.pop()?.message == Note([0, 2]))
      registry.end()
    }
  }
}
