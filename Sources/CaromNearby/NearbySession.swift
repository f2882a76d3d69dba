import CaromCore
import CaromGroup
import CaromProtocol
import CaromSession

/// A session of nearby peers: the peers that are visible, invitations, and the `Session` with the
/// peers that have joined.
public struct NearbySession: Sendable {
  /// The time that an invitation waits for its answer, unless another one is given.
  public static let invitationLimit = Duration.seconds(30)

  /// The peers that have joined, and their messages. Applications have channels 0 to 55 of it.
  public let session: Session
  /// The port on which the session listens.
  public let port: UInt16
  let node: NearbyNode

  /// This side's description of itself, as other peers see it.
  public var local: PeerInfo { node.local }

  /// The peers that appear on the network, change their description, and disappear, from the
  /// session's beginning. A session that does not browse finds none.
  public var changes: NearbyChanges { NearbyChanges(inbox: node.changes) }

  /// The peers that are visible now, in the order of their ids.
  public var nearbyPeers: [NearbyPeer] {
    get async { await node.nearbyPeers }
  }

  /// The invitations of other peers. A session of `Nearby.transceive` accepts them by itself.
  public var invitations: NearbyInvitations { NearbyInvitations(inbox: node.invitations) }

  /// Invites a peer to join, and connects to it if necessary. The invitation has no context.
  ///
  /// - Parameters:
  ///   - peer: The peer, which must be visible or have been added with `add`.
  ///   - limit: The time to wait for the answer. Attempts to connect are repeated within it.
  /// - Returns: How the invitation has ended. When it is `accepted`, the peer has joined. If the
  ///   task is cancelled, the invitation is withdrawn, and the result is `cancelled`.
  public func invite(
    _ peer: PeerID, within limit: Duration = invitationLimit
  ) async -> InvitationResult {
    await node.invite(peer, context: [], within: limit)
  }

  /// Invites a peer to join, as `invite(_:within:)` does, and tells its application why.
  ///
  /// - Parameters:
  ///   - peer: The peer, which must be visible or have been added with `add`.
  ///   - context: What the other side's application is told: at most
  ///     `NearbyInvitation.maximumContextLength` bytes.
  ///   - limit: The time to wait for the answer.
  /// - Returns: How the invitation has ended.
  /// - Throws: `contextTooLong`. Nothing is sent then.
  public func invite(
    _ peer: PeerID, context: [UInt8], within limit: Duration = invitationLimit
  ) async throws(InvitationError) -> InvitationResult {
    try InvitationError.check(context)
    return await node.invite(peer, context: context, within: limit)
  }

  /// Disconnects a peer. It is not connected to again until it appears on the network again or is
  /// invited.
  public func disconnect(_ peer: PeerID, _ reason: String = "") async {
    await node.disconnect(peer, Goodbye(.kicked, text: reason))
  }

  /// Makes a peer visible that was found in another way than by DNS-SD, for example by a code that
  /// the user has scanned: at one of `endpoints`.
  public func add(_ peer: NearbyPeer, at endpoints: [Endpoint]) async {
    await node.add(peer, at: endpoints)
  }

  /// The endpoints at which this side listens, one for each address of the interfaces that it uses,
  /// at most 32: what another peer passes to `add`, for example from a code that shows them.
  public var endpoints: [Endpoint] { get async { await node.localEndpoints(limit: 32) } }

  /// Removes a peer that was added with `add`. A connection to it stays.
  public func remove(_ peer: PeerID) async { await node.remove(peer) }
}
