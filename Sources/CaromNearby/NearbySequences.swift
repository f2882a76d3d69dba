import CaromDiscovery
import CaromSession

/// The peers that are found on the network and that disappear from it, for one reader at a time.
///
/// At most 4,096 unread changes are kept. Beyond this number, the oldest changes are dropped;
/// `NearbySession.nearbyPeers` has the peers that are visible now.
public struct NearbyChanges: AsyncSequence, Sendable {
  static let limit = 4096

  /// A change to the set of peers that are visible.
  public typealias Element = DiscoveryChange<NearbyPeer>

  let inbox: Inbox<Element>

  /// An iterator over the changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let inbox: Inbox<Element>

    /// Waits for the next change. Returns nil when the session has ended or the task is cancelled.
    public mutating func next() async -> Element? { await inbox.next() }
  }

  /// Creates an iterator over the changes.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(inbox: inbox) }
}

/// The invitations that other peers send to this side, for one reader at a time.
///
/// At most 64 invitations are open. The peers that send further ones are told that this side is
/// busy.
public struct NearbyInvitations: AsyncSequence, Sendable {
  /// An invitation.
  public typealias Element = NearbyInvitation

  let inbox: Inbox<NearbyInvitation>

  /// An iterator over the invitations.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let inbox: Inbox<NearbyInvitation>

    /// Waits for the next invitation. Returns nil when the session has ended or the task is
    /// cancelled.
    public mutating func next() async -> NearbyInvitation? { await inbox.next() }
  }

  /// Creates an iterator over the invitations.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(inbox: inbox) }
}
