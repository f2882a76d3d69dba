import CaromCore
import CaromGroup
import CaromNearby
import CaromSession

/// A peer that is invited to a session, connecting to it, or connected.
struct Member {
  let session: SessionCore
  let peerID: MCPeerID
  /// The task of this side's invitation; nil if the other side has invited.
  var invitation: Task<Void, Never>?
  /// The connection; nil before both sides have accepted.
  var peer: Peer?
  var outbox: Outbox?
  var hello: MemberHello?
  var hasSentReady = false
  var hasReceivedReady = false
  var isConnected = false
  /// The parts of data that is not complete.
  var parts: [UInt8] = []
  /// What has arrived on other channels before this side knew that the member is connected.
  var early: [EarlyArrival] = []

  /// The maximum number of members of all sessions of one own id.
  static let limit = 1024
  /// The number of arrivals that are kept before the member is connected.
  static let earlyLimit = 64

  enum EarlyArrival {
    case offer(IncomingOffer)
    case stream(PeerStream)
  }

  init(_ peerID: MCPeerID, of session: SessionCore) {
    self.peerID = peerID
    self.session = session
  }

  /// Stops what is under way.
  func end() {
    invitation?.cancel()
    outbox?.cancel()
  }
}
