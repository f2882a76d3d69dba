import CaromCore
import CaromProtocol
import CaromTransport

@testable import CaromSession

/// Runs `body` with a peer that has no connection.
func withUnconnectedPeer(_ body: (Peer) async throws -> Void) async rethrows {
  try await withNetworkLoop { loop in
    let hub = SessionHub(
      node: SessionNode(makePeer("host"), seats: 1, on: loop),
      events: Inbox(limit: 1, overflow: .dropOldest), inboxes: InboxRegistry(), admit: nil)
    try await body(Peer(info: makePeer("peer"), connectionID: ConnectionID(1), hub: hub))
  }
}
