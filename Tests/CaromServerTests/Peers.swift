import CaromCore
import CaromProtocol
import CaromTransport

@testable import CaromSession

func makePeer(_ name: String, isSpectator: Bool = false) -> PeerInfo {
  PeerInfo(id: .random(), name: name, application: "test", isSpectator: isSpectator)
}

/// Runs `body` with a peer that has no connection.
func withPeer(
  _ info: PeerInfo = makePeer("Ada"), _ body: (Peer) throws -> Void
) async rethrows {
  try await withNetworkLoop { loop in
    let hub = SessionHub(
      node: SessionNode(makePeer("host"), seats: 1, on: loop),
      events: Inbox(limit: 1, overflow: .dropOldest), inboxes: InboxRegistry(), admit: nil)
    try body(Peer(info: info, connectionID: ConnectionID(1), hub: hub))
  }
}

/// Waits between two polls, so that a test that polls does not keep a core from what it waits for.
/// Throws when the test is canceled because its time limit was exceeded.
func nextPoll() async throws { try await Task.sleep(for: .milliseconds(1)) }
