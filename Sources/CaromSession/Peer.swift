import CaromCore
import CaromProtocol

/// A connected peer: a handle that can be copied and sent anywhere.
public struct Peer: Sendable {
  /// What the peer says of itself.
  public let info: PeerInfo
  let link: LinkID
  let node: SessionNode

  /// Who it is.
  public var id: PeerID { info.id }
  /// What people call it.
  public var name: String { info.name }

  /// Sends a message; on a reliable channel it arrives once and in order.
  public func send<Message>(
    _ message: Message, on channel: Channel<Message>
  ) async throws(SendError) {
    try await node.send(message, on: channel, to: link)
  }

  /// Ends the connection; the peer is told why.
  public func close(_ goodbye: Goodbye = Goodbye(.left)) async {
    await node.close(link, goodbye)
  }

  /// What is known of the way to the peer; `nil` once it is gone.
  public var roundTrip: RoundTrip? {
    get async { await node.roundTrip(to: link) }
  }
}

extension Peer: Hashable {
  /// Equal where the connection is the same one.
  public static func == (a: Peer, b: Peer) -> Bool { a.node === b.node && a.link == b.link }

  /// Hashes the connection.
  public func hash(into hasher: inout Hasher) { hasher.combine(link) }
}

/// A host's one answer to a request for a seat.
public enum Admission: Hashable, Sendable {
  /// The seat is the peer's.
  case accept
  /// It is not, and the peer is told why: at most 255 bytes.
  case decline(String)
}

/// What happens to the peers of a session.
public enum PeerEvent: Hashable, Sendable {
  /// The peer is connected.
  case joined(Peer)
  /// The peer is gone, once, with the reason.
  case left(Peer, DisconnectReason)
}

/// A message and who sent it.
public struct Received<Message: Sendable>: Sendable {
  /// Who sent it.
  public let peer: Peer
  /// What it says.
  public let message: Message
}
