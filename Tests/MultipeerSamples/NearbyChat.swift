import Foundation
import MultipeerConnectivity

/// What a chat tells its owner.
protocol NearbyChatDelegate: AnyObject {
  func chat(_ chat: NearbyChat, connectedPeersChanged names: [String])
  func chat(_ chat: NearbyChat, received event: String, object: Any?, from name: String)
}

/// A manager in the manner of many applications: it advertises and browses at once, one of two
/// peers invites the other, and messages are keyed archives of dictionaries.
class NearbyChat: NSObject {
  let serviceType: String
  let myPeerID: MCPeerID
  weak var delegate: NearbyChatDelegate?

  private let advertiser: MCNearbyServiceAdvertiser
  private let browser: MCNearbyServiceBrowser

  lazy var session: MCSession = {
    let session = MCSession(
      peer: self.myPeerID, securityIdentity: nil, encryptionPreference: .required)
    session.delegate = self
    return session
  }()

  init(serviceType: String, peerID: MCPeerID) {
    self.serviceType = serviceType
    myPeerID = peerID
    advertiser = MCNearbyServiceAdvertiser(
      peer: peerID, discoveryInfo: ["name": peerID.displayName, "version": "2"],
      serviceType: serviceType)
    browser = MCNearbyServiceBrowser(peer: peerID, serviceType: serviceType)
    super.init()
    // The objects start before they have delegates.
    advertiser.startAdvertisingPeer()
    browser.startBrowsingForPeers()
    advertiser.delegate = self
    browser.delegate = self
  }

  deinit {
    advertiser.stopAdvertisingPeer()
    browser.stopBrowsingForPeers()
  }

  func send(event: String, object: AnyObject? = nil, toPeers peers: [MCPeerID]? = nil) {
    let targets = peers ?? session.connectedPeers
    guard !targets.isEmpty else { return }
    var root: [String: Any] = ["event": event]
    if let object = object { root["object"] = object }
    do {
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: root as NSDictionary, requiringSecureCoding: false)
      try session.send(data, toPeers: targets, with: .reliable)
    } catch let error {
      NSLog("cannot send: \(error.localizedDescription)")
    }
  }
}

extension NearbyChat: MCNearbyServiceAdvertiserDelegate {
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: Error
  ) {
    NSLog("did not start advertising: \(error)")
  }

  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
    withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) {
    invitationHandler(true, self.session)
  }
}

extension NearbyChat: MCNearbyServiceBrowserDelegate {
  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) {
    guard info?["name"] == peerID.displayName, info?["version"] == "2" else { return }
    // One of the two invites: the comparison has the same result in both processes.
    if myPeerID.hash > peerID.hash {
      browser.invitePeer(peerID, to: self.session, withContext: nil, timeout: 10)
    }
  }

  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
    NSLog("lost \(peerID.displayName)")
  }
}

extension NearbyChat: MCSessionDelegate {
  func session(
    _ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState
  ) {
    switch state {
    case .connecting: NSLog("connecting to \(peerID.displayName)")
    case .connected, .notConnected:
      delegate?.chat(
        self, connectedPeersChanged: session.connectedPeers.map { $0.displayName })
    @unknown default: break
    }
  }

  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    guard
      let root = try? NSKeyedUnarchiver.unarchivedObject(
        ofClasses: [NSDictionary.self, NSString.self, NSNumber.self, NSArray.self, NSData.self],
        from: data) as? [String: Any],
      let event = root["event"] as? String
    else { return }
    delegate?.chat(self, received: event, object: root["object"], from: peerID.displayName)
  }

  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
    fromPeer peerID: MCPeerID
  ) {}

  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
    fromPeer peerID: MCPeerID, with progress: Progress
  ) {}

  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
    fromPeer peerID: MCPeerID, at localURL: URL?, withError error: Error?
  ) {}
}
