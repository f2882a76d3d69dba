import CaromDNS
import CaromDiscovery
import CaromNearby
import CaromTransport
import Foundation

/// What an `MCNearbyServiceBrowser` reports.
public protocol MCNearbyServiceBrowserDelegate: NSObjectProtocol {
  /// A peer is visible. It is reported again if its discovery info changes.
  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?)

  /// A peer is no longer visible. It may still be connected.
  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID)

  /// The browser does not run: because the network cannot be used, or the peer is not an own id.
  /// The default implementation does nothing.
  func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error)
}

extension MCNearbyServiceBrowserDelegate {
  /// Does nothing.
  public func browser(
    _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error
  ) {}
}

/// Looks for the peers that advertise a service type, and invites them.
open class MCNearbyServiceBrowser: NSObject,
  @unchecked Sendable  // the properties are constant, or locked
{
  /// The maximum length of the context of an invitation, in bytes.
  public static let maximumContextLength = InvitationEnvelope.maximumContextLength

  /// The own id that browses and invites.
  public let myPeerID: MCPeerID
  /// The service type, 1 to 15 letters, digits and hyphens.
  public let serviceType: String
  let core: BrowserCore

  /// Creates a browser, which does nothing before `startBrowsingForPeers`. Traps if the service
  /// type is not valid (RFC 6335, section 5.1).
  public init(peer myPeerID: MCPeerID, serviceType: String) {
    self.myPeerID = myPeerID
    self.serviceType = serviceType
    core = BrowserCore(myPeerID, ServiceType(checking: serviceType))
    super.init()
    core.owner = self
  }

  deinit { core.stop(isFinal: true) }

  /// The object that is told about peers. It is not retained.
  open var delegate: (any MCNearbyServiceBrowserDelegate)? {
    get { core.calls.delegate as? any MCNearbyServiceBrowserDelegate }
    set { core.calls.delegate = newValue }
  }

  /// Begins to look for peers. Does nothing if the browser runs already.
  open func startBrowsingForPeers() { core.start() }

  /// Stops looking for peers. Invitations that are open stay so.
  open func stopBrowsingForPeers() { core.stop(isFinal: false) }

  /// Invites a peer to a session. The session's delegate is told how it ends: `connecting` and then
  /// `connected`, or `notConnected` if the peer declines or does not answer in time.
  ///
  /// - Parameters:
  ///   - peerID: A peer that was found.
  ///   - session: A session of the same own id as this browser.
  ///   - context: What the other side's delegate is told, at most 4,064 bytes.
  ///   - timeout: The time to wait for the answer, in seconds. Zero and less mean 30 s.
  open func invitePeer(
    _ peerID: MCPeerID, to session: MCSession, withContext context: Data?, timeout: TimeInterval
  ) {
    let session = session.core
    guard (context?.count ?? 0) <= Self.maximumContextLength else {
      Diagnostics.report(
        "the context of an invitation has at most \(Self.maximumContextLength) bytes: send more "
          + "once the peer is connected")
      return session.reportNotConnected(peerID)
    }
    guard let engine = session.handle?.engine, engine.local == myPeerID else {
      Diagnostics.report("the session and the browser have different MCPeerIDs")
      return session.reportNotConnected(peerID)
    }
    let envelope = InvitationEnvelope.invitation(
      serviceType: core.type.name, context: context.map { [UInt8]($0) })
    let limit = timeout > 0 ? Duration.seconds(min(timeout, 24 * 60 * 60)) : .seconds(30)
    engine.post { $0.invite(peerID, to: session, envelope, within: limit) }
  }
}

/// What stands behind a browser.
final class BrowserCore: Sendable {
  private struct State: Sendable {
    weak var owner: MCNearbyServiceBrowser?
  }

  let type: ServiceType
  let calls: DelegateCalls
  private let handle: EngineHandle?
  private let state = Locked(State())

  init(_ myPeerID: MCPeerID, _ type: ServiceType) {
    self.type = type
    handle = EngineHandle.shared(for: myPeerID)
    calls = DelegateCalls(
      on: handle?.engine.queue ?? DispatchQueue(label: "MultipeerConnectivity"))
  }

  var owner: MCNearbyServiceBrowser? {
    get { state.withLock { $0.owner } }
    set { state.withLock { $0.owner = newValue } }
  }

  func start() {
    guard let handle else {
      return report { $1.browser($0, didNotStartBrowsingForPeers: MCError.notOwn) }
    }
    handle.engine.post { [self] in $0.start(self) }
  }

  func stop(isFinal: Bool) {
    if isFinal { calls.end() }
    handle?.engine.post { [self] in $0.stop(self) }
  }

  func report(_ change: DiscoveryChange<NearbyPeer>) {
    let peer = MCPeerID(change.item.id, name: change.item.name)
    switch change {
    case .added(let item), .updated(let item):
      let info = DiscoveryInfo.info(in: item.info)
      report { $1.browser($0, foundPeer: peer, withDiscoveryInfo: info) }
    case .removed: report { $1.browser($0, lostPeer: peer) }
    }
  }

  func report(
    _ call:
      @escaping @Sendable (MCNearbyServiceBrowser, any MCNearbyServiceBrowserDelegate) -> Void
  ) {
    calls.post { [weak self] in
      guard let owner = self?.owner, let delegate = owner.delegate else { return }
      call(owner, delegate)
    }
  }
}
