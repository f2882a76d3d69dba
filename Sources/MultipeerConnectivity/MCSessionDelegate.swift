import Foundation

/// What becomes of a peer of a session.
public enum MCSessionState: Int, Sendable {
  /// The peer is not connected.
  case notConnected = 0
  /// The peer has accepted, and the two sides check whether their sessions fit together.
  case connecting = 1
  /// The peer is connected.
  case connected = 2
}

/// How data is sent.
public enum MCSessionSendDataMode: Int, Sendable {
  /// All data arrives, in the order in which it was sent.
  case reliable = 0
  /// Data is sent at once, may be lost, and may arrive in any order.
  case unreliable = 1
}

/// Which sessions meet. The connection itself is always encrypted.
///
/// A session that requires encryption never connects to one that wants none. As every connection of
/// this module is encrypted, `none` does not turn encryption off: it only keeps the meaning that
/// the preference has between two sides.
public enum MCEncryptionPreference: Int, Sendable {
  /// Meets every session.
  case optional = 0
  /// Meets no session whose preference is `none`.
  case required = 1
  /// Meets no session whose preference is `required`.
  case none = 2

  func isCompatible(with other: MCEncryptionPreference) -> Bool {
    !(self == .required && other == .none || self == .none && other == .required)
  }
}

/// What an `MCSession` reports.
///
/// All calls for the objects of one own `MCPeerID` come on one serial queue. Calls that are due
/// before the delegate is set wait for it. All methods have default implementations that do
/// nothing, because Swift has no optional methods without Objective-C.
public protocol MCSessionDelegate: NSObjectProtocol {
  /// The state of a peer has changed.
  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState)

  /// Data has arrived from a peer.
  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID)

  /// A peer has opened a byte stream to this side. Set the stream's delegate, schedule it in a run
  /// loop and open it; or open it and read on a thread of your own.
  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
    fromPeer peerID: MCPeerID)

  /// A peer sends a resource. `progress` says how much has arrived, and can cancel the transfer.
  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
    fromPeer peerID: MCPeerID, with progress: Progress)

  /// A resource has arrived, or its transfer has failed. The file at `localURL` is removed when
  /// this method returns, so move or open it before.
  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
    fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?)

  /// A peer is about to connect. Call `certificateHandler` once, on any thread, with whether the
  /// peer may connect. The default implementation accepts every peer.
  ///
  /// - Parameter certificate: One `Data` with the 32 bytes of the peer's public key (X25519). The
  ///   connection has proven that the peer has the secret key.
  func session(
    _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
    certificateHandler: @escaping (Bool) -> Void)
}

extension MCSessionDelegate {
  /// Does nothing.
  public func session(
    _ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState
  ) {}

  /// Does nothing.
  public func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {}

  /// Does nothing: the stream is reset when it is released.
  public func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
    fromPeer peerID: MCPeerID
  ) {}

  /// Does nothing.
  public func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
    fromPeer peerID: MCPeerID, with progress: Progress
  ) {}

  /// Does nothing: the file is removed.
  public func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
    fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
  ) {}

  /// Accepts the peer.
  public func session(
    _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
    certificateHandler: @escaping (Bool) -> Void
  ) { certificateHandler(true) }
}
