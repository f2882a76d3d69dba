import CaromBonjour
import Foundation
import MultipeerConnectivity

/// Connects players who have a text in common: each is visible to the others, and invites all of
/// them to its session.
///
/// Used on the queue of the session's delegate calls alone.
final class PlayerMeeting: NSObject,
  @unchecked Sendable  // see above
{
  /// The time that an invitation waits for its answer, in seconds.
  private static let invitationTime: TimeInterval = 10
  /// The time after which a visible player that is not connected is invited again.
  private static let retryTime = DispatchTimeInterval.seconds(1)

  private let session: MCSession
  private let info: [String: String]?
  private let accepts: (MCPeerID) -> Bool
  private let fail: (any Error) -> Void
  private let advertiser: MCNearbyServiceAdvertiser
  private let browser: MCNearbyServiceBrowser
  private var visible: Set<MCPeerID> = []
  private var isRunning = false

  /// Creates a meeting of all who have `text` in common and whom `accepts` admits. `fail` is called
  /// if the network cannot be used.
  init(
    _ text: String, of session: MCSession, accepts: @escaping (MCPeerID) -> Bool,
    fail: @escaping (any Error) -> Void
  ) {
    let type = Self.serviceType(of: text)
    self.session = session
    self.accepts = accepts
    self.fail = fail
    info = GKSession.info(of: text)
    advertiser = MCNearbyServiceAdvertiser(
      peer: session.myPeerID, discoveryInfo: info, serviceType: type)
    browser = MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: type)
    super.init()
    advertiser.delegate = self
    browser.delegate = self
  }

  /// The service type of all who have a text in common.
  static func serviceType(of text: String) -> String { BonjourSessionID(text).serviceType.name }

  func start() {
    isRunning = true
    advertiser.startAdvertisingPeer()
    browser.startBrowsingForPeers()
  }

  func stop() {
    isRunning = false
    advertiser.stopAdvertisingPeer()
    browser.stopBrowsingForPeers()
  }

  /// A player is not connected, or no longer: invites it again after a while if it is visible.
  func handleNotConnected(_ peer: MCPeerID) {
    session.delegateQueue.asyncAfter(deadline: .now() + Self.retryTime) { [weak self] in
      self?.invite(peer)
    }
  }

  private func invite(_ peer: MCPeerID) {
    guard isRunning, visible.contains(peer), accepts(peer) else { return }
    // An invitation to a player that is connected, or connecting, changes nothing.
    browser.invitePeer(
      peer, to: session, withContext: nil, timeout: Self.invitationTime)
  }
}

extension PlayerMeeting: MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
    withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) {
    let isAccepted = isRunning && accepts(peerID)
    invitationHandler(isAccepted, isAccepted ? session : nil)
  }

  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
  ) { if isRunning { fail(error) } }

  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) {
    guard info == self.info else { return }
    visible.insert(peerID)
    invite(peerID)
  }

  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
    visible.remove(peerID)
  }

  func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
    if isRunning { fail(error) }
  }
}
