import CaromCore
import CaromGroup

/// An invitation of another peer to join its session. If it is not answered, it expires when the
/// inviter's time limit has passed.
public struct NearbyInvitation: Sendable {
  /// The maximum length of an invitation's context, in bytes.
  public static let maximumContextLength = InvitationRequest.maximumContextLength

  /// The peer that sends the invitation. Its id is proven.
  public let peer: NearbyPeer
  /// What the inviter's application says about the invitation: at most 4,096 bytes.
  public let context: [UInt8]
  let number: UInt32
  let node: NearbyNode

  /// Accepts the invitation. The session reports `joined` once the inviter has confirmed it.
  /// Returns false if the invitation is no longer open: because the inviter has withdrawn it, its
  /// time limit has passed, the connection has ended, or it was answered before.
  @discardableResult
  public func accept() async -> Bool { await node.answer(peer.id, number, accepting: true) }

  /// Declines the invitation. Returns false if the invitation is no longer open.
  @discardableResult
  public func decline() async -> Bool { await node.answer(peer.id, number, accepting: false) }
}
