import Foundation
import MultipeerConnectivity

// What the session underneath reports.
extension GKSession: MCSessionDelegate {
  /// Reports the state of a peer, or that an attempt to connect has failed.
  public func session(
    _ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState
  ) {
    switch state {
    case .connecting: change(peerID, to: .stateConnecting)
    case .connected:
      self.state.withLock { $0.peers[Self.key(peerID)]?.deadline = nil }
      change(peerID, to: .stateConnected)
    case .notConnected: didDisconnect(peerID)
    }
  }

  private func change(_ peerID: MCPeerID, to new: GKPeerConnectionState) {
    let key = Self.key(peerID)
    state.withLock { state in
      state.peers[key, default: Peer(id: peerID, state: new)].state = new
    }
    delegate?.session(self, peer: key, didChange: new)
  }

  private func didDisconnect(_ peerID: MCPeerID) {
    let key = Self.key(peerID)
    let old = state.withLock { state in
      defer { state.peers[key]?.deadline = nil }
      return state.peers[key]
    }
    if let deadline = old?.deadline, old?.state != .stateConnected {
      let code: GKSessionError.Code =
        old?.isCancelled == true ? .cancelled : deadline <= .now ? .timedOut : .declined
      delegate?.session(
        self, connectionWithPeerFailed: key, withError: GKSessionError(code))
    }
    change(peerID, to: .stateDisconnected)
    if old?.isVisible == true { change(peerID, to: .stateAvailable) }
  }

  /// Gives data to the handler, or leaves if the message says so.
  public func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    guard let kind = data.first.flatMap({ Kind(rawValue: $0) }) else { return }
    switch kind {
    case .data:
      let (handler, context) = state.withLock { ($0.handler, $0.context) }
      handler?.receive(
        Data(data.dropFirst()), fromPeer: Self.key(peerID), in: self, context: context)
    case .leave:
      if String(decoding: data.dropFirst(), as: UTF8.self) == self.peerID {
        disconnectFromAllPeers()
      }
    }
  }
}

extension GKSession: MCNearbyServiceAdvertiserDelegate {
  /// Asks the delegate whether a peer may connect.
  public func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
    withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) {
    let key = Self.key(peerID)
    state.withLock { state in
      state.peers[key, default: Peer(id: peerID, state: .stateAvailable)].answer =
        invitationHandler
    }
    delegate?.session(self, didReceiveConnectionRequestFromPeer: key)
  }

  /// Reports that the session cannot become visible.
  public func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
  ) {
    delegate?.session(
      self, didFailWithError: GKSessionError(.cannotEnable, reason: "\(error)"))
  }
}

extension GKSession: MCNearbyServiceBrowserDelegate {
  /// Reports a peer as available.
  public func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) {
    guard info == Self.info(of: sessionID) else { return }
    let key = Self.key(peerID)
    let isConnected = state.withLock { state in
      state.peers[key, default: Peer(id: peerID, state: .stateAvailable)].isVisible = true
      return state.peers[key]?.state == .stateConnected
    }
    if !isConnected { change(peerID, to: .stateAvailable) }
  }

  /// Reports a peer as unavailable, unless it is connected.
  public func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
    let key = Self.key(peerID)
    let isKnown = state.withLock { state in
      guard state.peers[key]?.isVisible == true else { return false }
      state.peers[key]?.isVisible = false
      return state.peers[key]?.state != .stateConnected
    }
    if isKnown { change(peerID, to: .stateUnavailable) }
  }

  /// Reports that the session cannot look for others.
  public func browser(
    _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error
  ) {
    delegate?.session(
      self, didFailWithError: GKSessionError(.cannotEnable, reason: "\(error)"))
  }
}
