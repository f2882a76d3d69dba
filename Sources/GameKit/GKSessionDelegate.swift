import Foundation

/// What a session does on the network.
public enum GKSessionMode: UInt32, Sendable {
  /// It is visible, and others connect to it.
  case server = 0
  /// It looks for servers and connects to them.
  case client = 1
  /// Both.
  case peer = 2
}

/// How data is sent.
public enum GKSendDataMode: UInt32, Sendable {
  /// All data arrives, in the order in which it was sent.
  case reliable = 0
  /// Data is sent once, and may be lost.
  case unreliable = 1
}

/// What a session knows of a peer.
public enum GKPeerConnectionState: UInt32, Sendable {
  /// The peer is visible and not connected.
  case stateAvailable = 0
  /// The peer is no longer visible.
  case stateUnavailable = 1
  /// The peer is connected.
  case stateConnected = 2
  /// The peer was connected, and no longer is.
  case stateDisconnected = 3
  /// An attempt to connect is under way.
  case stateConnecting = 4
}

/// What a `GKSession` reports, on one serial queue. All methods have default implementations that
/// do nothing.
public protocol GKSessionDelegate: NSObjectProtocol {
  /// The state of a peer has changed.
  func session(
    _ session: GKSession, peer peerID: String, didChange state: GKPeerConnectionState)
  /// A peer wants to connect. Call `acceptConnection(fromPeer:)` or `denyConnection(fromPeer:)`.
  func session(_ session: GKSession, didReceiveConnectionRequestFromPeer peerID: String)
  /// An attempt to connect has failed.
  func session(
    _ session: GKSession, connectionWithPeerFailed peerID: String, withError error: any Error)
  /// The session cannot work.
  func session(_ session: GKSession, didFailWithError error: any Error)
}

extension GKSessionDelegate {
  /// Does nothing.
  public func session(
    _ session: GKSession, peer peerID: String, didChange state: GKPeerConnectionState
  ) {}
  /// Does nothing: the request expires.
  public func session(
    _ session: GKSession, didReceiveConnectionRequestFromPeer peerID: String
  ) {}
  /// Does nothing.
  public func session(
    _ session: GKSession, connectionWithPeerFailed peerID: String, withError error: any Error
  ) {}
  /// Does nothing.
  public func session(_ session: GKSession, didFailWithError error: any Error) {}
}

/// The object to which `setDataReceiveHandler` sends data, in place of Apple's informal protocol.
public protocol GKSessionDataHandler: AnyObject {
  /// Data has arrived from a peer. `context` is what was given to `setDataReceiveHandler`.
  func receive(_ data: Data, fromPeer peer: String, in session: GKSession, context: Any?)
}
