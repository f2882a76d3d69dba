import CaromTransport
import Foundation

/// What an `MCBrowserViewController` reports.
public protocol MCBrowserViewControllerDelegate: NSObjectProtocol {
  /// The user has picked enough peers and is done.
  func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController)

  /// The user has given up.
  func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController)

  /// Returns whether a peer is in the list. The default implementation returns true.
  func browserViewController(
    _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) -> Bool
}

extension MCBrowserViewControllerDelegate {
  /// Returns true.
  public func browserViewController(
    _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) -> Bool { true }
}

/// A list of nearby peers from which a user picks those that join a session.
///
/// Apple's class is a view controller. This one is its model, without a face: an application shows
/// `nearbyPeers` in its own way, and calls `invite`, `finish` and `cancel` for what the user does.
open class MCBrowserViewController: NSObject,
  @unchecked Sendable  // the properties are constant, or locked
{
  private struct State: @unchecked Sendable {  // only the properties below hand it on
    weak var delegate: (any MCBrowserViewControllerDelegate)?
    var limits = (minimum: kMCSessionMinimumNumberOfPeers, maximum: kMCSessionMaximumNumberOfPeers)
    var peers: [MCPeerID] = []
    var onChange: (() -> Void)?
  }

  /// The browser that looks for peers; nil if the list was created with a service type.
  public let browser: MCNearbyServiceBrowser?
  /// The session that picked peers join.
  public let session: MCSession
  private let ownBrowser: MCNearbyServiceBrowser
  private let state = Locked(State())

  /// Creates a list of the peers that advertise a service type.
  public convenience init(serviceType: String, session: MCSession) {
    self.init(
      nil, MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: serviceType), session)
  }

  /// Creates a list of the peers that a browser finds. The list becomes the browser's delegate.
  public convenience init(browser: MCNearbyServiceBrowser, session: MCSession) {
    self.init(browser, browser, session)
  }

  private init(
    _ browser: MCNearbyServiceBrowser?, _ ownBrowser: MCNearbyServiceBrowser, _ session: MCSession
  ) {
    self.browser = browser
    self.session = session
    self.ownBrowser = ownBrowser
    super.init()
    ownBrowser.delegate = self
  }

  /// The object that is told what the user does. It is not retained.
  open var delegate: (any MCBrowserViewControllerDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  /// The number of peers, with this side, that `finish` needs: at least 2.
  open var minimumNumberOfPeers: Int {
    get { state.withLock { $0.limits.minimum } }
    set { state.withLock { $0.limits.minimum = max(newValue, kMCSessionMinimumNumberOfPeers) } }
  }

  /// The number of peers, with this side, beyond which `invite` invites nobody: 8 unless it is set.
  open var maximumNumberOfPeers: Int {
    get { state.withLock { $0.limits.maximum } }
    set { state.withLock { $0.limits.maximum = newValue } }
  }

  // MARK: In place of a face

  /// The peers of the list, in the order in which they were found.
  open var nearbyPeers: [MCPeerID] { state.withLock { $0.peers } }

  /// Called on the queue of the delegate calls when `nearbyPeers` has changed.
  open var nearbyPeersDidChange: (() -> Void)? {
    get { state.withLock { $0.onChange } }
    set { state.withLock { $0.onChange = newValue } }
  }

  /// Begins to look for peers, as Apple's view does when it appears.
  open func start() { ownBrowser.startBrowsingForPeers() }

  /// Invites a peer of the list, as a tap on its row does. Returns false if the session has the
  /// maximum number of peers.
  @discardableResult
  open func invite(_ peerID: MCPeerID) -> Bool {
    guard session.connectedPeers.count + 1 < maximumNumberOfPeers else { return false }
    ownBrowser.invitePeer(peerID, to: session, withContext: nil, timeout: 30)
    return true
  }

  /// Ends the list, as the button "Done" does. Returns false if too few peers are connected.
  @discardableResult
  open func finish() -> Bool {
    guard session.connectedPeers.count + 1 >= minimumNumberOfPeers else { return false }
    ownBrowser.stopBrowsingForPeers()
    delegate?.browserViewControllerDidFinish(self)
    return true
  }

  /// Gives up, as the button "Cancel" does. Peers that are connected stay so.
  open func cancel() {
    ownBrowser.stopBrowsingForPeers()
    delegate?.browserViewControllerWasCancelled(self)
  }
}

extension MCBrowserViewController: MCNearbyServiceBrowserDelegate {
  /// Adds a peer to the list, unless the delegate does not want it.
  public func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) {
    let isShown =
      delegate?.browserViewController(
        self, shouldPresentNearbyPeer: peerID, withDiscoveryInfo: info) ?? true
    guard isShown, !nearbyPeers.contains(peerID) else { return }
    state.withLock { $0.peers.append(peerID) }
    nearbyPeersDidChange?()
  }

  /// Removes a peer from the list.
  public func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
    guard nearbyPeers.contains(peerID) else { return }
    state.withLock { $0.peers.removeAll { $0 == peerID } }
    nearbyPeersDidChange?()
  }
}
