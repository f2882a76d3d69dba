import CaromTransport
import Foundation
import MultipeerConnectivity
import TestEvents
import Testing

/// A service type that no other test uses.
func makeServiceType() -> String {
  "mc-\(String(UInt32.random(in: .min ... .max), radix: 36))"
}

/// An own id whose sessions use the loopback interface.
func makePeerID(_ name: String) -> MCPeerID {
  MultipeerNetwork.interfaces = ["lo"]
  return MCPeerID(displayName: name)
}

/// A stream that a delegate was given.
struct ReceivedStream: @unchecked Sendable {  // the test that waits for it is its only user
  let stream: InputStream
}

/// A session whose delegate calls are recorded.
final class TestSession: NSObject, MCSessionDelegate, Sendable {
  enum Event: Sendable {
    case state(MCPeerID, MCSessionState)
    case data(Data, MCPeerID)
    case stream(ReceivedStream, String)
    case resourceStarted(String, Progress)
    /// With the content of the file.
    case resource(String, Data?, MCError?)
    case certificate([Data])
  }

  let session: MCSession
  let log = EventLog<Event>()
  let acceptsCertificates: Bool

  init(
    _ peerID: MCPeerID, _ preference: MCEncryptionPreference = .required,
    acceptsCertificates: Bool = true, hasDelegate: Bool = true
  ) {
    session = MCSession(
      peer: peerID, securityIdentity: nil, encryptionPreference: preference)
    self.acceptsCertificates = acceptsCertificates
    super.init()
    if hasDelegate { session.delegate = self }
  }

  var peerID: MCPeerID { session.myPeerID }

  /// Waits until the state of a peer changes, and returns the new state.
  func nextState(of peer: MCPeerID) async -> MCSessionState? {
    await log.next { event in
      if case .state(peer, let state) = event { state } else { nil }
    }
  }

  /// Waits until a peer has this state.
  func wait(for state: MCSessionState, of peer: MCPeerID) async {
    while let next = await nextState(of: peer), next != state {}
  }

  /// Waits for data, and returns it.
  func nextData() async -> Data? {
    await log.next { event in
      if case .data(let data, _) = event { data } else { nil }
    }
  }

  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    log.add(.state(peerID, state))
  }

  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    log.add(.data(data, peerID))
  }

  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
    fromPeer peerID: MCPeerID
  ) {
    log.add(.stream(ReceivedStream(stream: stream), streamName))
  }

  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
    fromPeer peerID: MCPeerID, with progress: Progress
  ) {
    log.add(.resourceStarted(resourceName, progress))
  }

  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
    fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
  ) {
    let data = localURL.flatMap { try? Data(contentsOf: $0) }
    log.add(.resource(resourceName, data, error as? MCError))
  }

  func session(
    _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
    certificateHandler: @escaping (Bool) -> Void
  ) {
    log.add(.certificate(certificate as? [Data] ?? []))
    certificateHandler(acceptsCertificates)
  }
}

/// An advertiser that answers every invitation in the same way, and records them.
final class TestAdvertiser: NSObject, MCNearbyServiceAdvertiserDelegate, Sendable {
  enum Event: Sendable {
    case invitation(MCPeerID, Data?)
    case failed(MCError?)
  }

  let advertiser: MCNearbyServiceAdvertiser
  let log = EventLog<Event>()
  /// The session that invited peers join; nil to decline.
  private let session: MCSession?
  /// Whether invitations are answered at all.
  private let answers: Bool

  init(
    _ peerID: MCPeerID, type: String, info: [String: String]? = nil, session: MCSession?,
    answers: Bool = true
  ) {
    advertiser = MCNearbyServiceAdvertiser(
      peer: peerID, discoveryInfo: info, serviceType: type)
    self.session = session
    self.answers = answers
    super.init()
    advertiser.delegate = self
    advertiser.startAdvertisingPeer()
  }

  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
    withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) {
    log.add(.invitation(peerID, context))
    if answers { invitationHandler(session != nil, session) }
  }

  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
  ) { log.add(.failed(error as? MCError)) }
}

/// A browser that records what it finds.
final class TestBrowser: NSObject, MCNearbyServiceBrowserDelegate, Sendable {
  enum Event: Sendable {
    case found(MCPeerID, [String: String]?)
    case lost(MCPeerID)
    case failed(MCError?)
  }

  let browser: MCNearbyServiceBrowser
  let log = EventLog<Event>()

  init(_ peerID: MCPeerID, type: String) {
    browser = MCNearbyServiceBrowser(peer: peerID, serviceType: type)
    super.init()
    browser.delegate = self
    browser.startBrowsingForPeers()
  }

  /// Waits until a peer is found, and returns it.
  func nextFound() async -> MCPeerID? {
    await log.next { event in
      if case .found(let peer, _) = event { peer } else { nil }
    }
  }

  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) { log.add(.found(peerID, info)) }

  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
    log.add(.lost(peerID))
  }

  func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
    log.add(.failed(error as? MCError))
  }
}

/// Two sessions that are connected with each other.
struct ConnectedPair {
  let host: TestSession
  let client: TestSession
  let advertiser: TestAdvertiser
  let browser: TestBrowser

  /// Connects two new peers by an invitation.
  static func make(
    _ hostPreference: MCEncryptionPreference = .required,
    _ clientPreference: MCEncryptionPreference = .required
  ) async throws -> ConnectedPair {
    let type = makeServiceType()
    let host = TestSession(makePeerID("Maya"), hostPreference)
    let client = TestSession(makePeerID("Leo"), clientPreference)
    let advertiser = TestAdvertiser(host.peerID, type: type, session: host.session)
    let browser = TestBrowser(client.peerID, type: type)
    let found = try #require(await browser.nextFound())
    browser.browser.invitePeer(found, to: client.session, withContext: nil, timeout: 20)
    await host.wait(for: .connected, of: client.peerID)
    await client.wait(for: .connected, of: host.peerID)
    return ConnectedPair(host: host, client: client, advertiser: advertiser, browser: browser)
  }
}
