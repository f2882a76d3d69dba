import CaromDNS
import CaromNearby
import CaromTransport
import Foundation

/// What an `MCNearbyServiceAdvertiser` reports.
public protocol MCNearbyServiceAdvertiserDelegate: NSObjectProtocol {
  /// A peer has invited this side. Call `invitationHandler` once, on any thread, with whether to
  /// accept and the session that the peer joins. An invitation that is not answered expires when
  /// the inviter's time limit has passed.
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
    withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void)

  /// The peer is not visible: because the network cannot be used, the discovery info cannot be
  /// advertised, or the peer is not an own id. The default implementation does nothing.
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error)
}

extension MCNearbyServiceAdvertiserDelegate {
  /// Does nothing.
  public func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
  ) {}
}

/// Makes this side visible to browsers of a service type.
open class MCNearbyServiceAdvertiser: NSObject,
  @unchecked Sendable  // the properties are constant, or locked
{
  /// The own id that is advertised.
  public let myPeerID: MCPeerID
  /// The key-value pairs that browsers see. Together they should have less than 400 bytes.
  public let discoveryInfo: [String: String]?
  /// The service type, 1 to 15 letters, digits and hyphens.
  public let serviceType: String
  let core: AdvertiserCore

  /// Creates an advertiser, which is not visible before `startAdvertisingPeer`. Traps if the
  /// service type is not valid (RFC 6335, section 5.1).
  public init(
    peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String
  ) {
    self.myPeerID = myPeerID
    discoveryInfo = info
    self.serviceType = serviceType
    core = AdvertiserCore(myPeerID, info, ServiceType(checking: serviceType))
    super.init()
    core.owner = self
  }

  deinit { core.stop(isFinal: true) }

  /// The object that answers invitations. It is not retained.
  open var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
    get { core.calls.delegate as? any MCNearbyServiceAdvertiserDelegate }
    set { core.calls.delegate = newValue }
  }

  /// Makes the peer visible. Does nothing if it is visible already.
  open func startAdvertisingPeer() { core.start() }

  /// Makes the peer invisible. Connected peers stay connected.
  open func stopAdvertisingPeer() { core.stop(isFinal: false) }
}

extension ServiceType {
  /// Creates the type on the network for a service type of Multipeer Connectivity: "chat" is
  /// `_chat._udp`. Traps if it is not valid.
  init(checking name: String) {
    do throws(ServiceTypeError) {
      self = try ServiceType(name: name, transport: .udp)
    } catch {
      preconditionFailure("'\(name)' is not a service type: \(error)")
    }
  }
}

/// What stands behind an advertiser.
final class AdvertiserCore: Sendable {
  private struct State: Sendable {
    weak var owner: MCNearbyServiceAdvertiser?
  }

  let info: [String: String]?
  let type: ServiceType
  let calls: DelegateCalls
  private let handle: EngineHandle?
  private let state = Locked(State())

  init(_ myPeerID: MCPeerID, _ info: [String: String]?, _ type: ServiceType) {
    self.info = info
    self.type = type
    handle = EngineHandle.shared(for: myPeerID)
    calls = DelegateCalls(
      on: handle?.engine.queue ?? DispatchQueue(label: "MultipeerConnectivity"))
  }

  var owner: MCNearbyServiceAdvertiser? {
    get { state.withLock { $0.owner } }
    set { state.withLock { $0.owner = newValue } }
  }

  func start() {
    guard let handle else {
      return report { $1.advertiser($0, didNotStartAdvertisingPeer: MCError.notOwn) }
    }
    handle.engine.post { [self] in $0.start(self) }
  }

  func stop(isFinal: Bool) {
    if isFinal { calls.end() }
    handle?.engine.post { [self] in $0.stop(self) }
  }

  func report(
    _ call:
      @escaping @Sendable (
        MCNearbyServiceAdvertiser, any MCNearbyServiceAdvertiserDelegate
      ) -> Void
  ) {
    calls.post { [weak self] in
      guard let owner = self?.owner, let delegate = owner.delegate else { return }
      call(owner, delegate)
    }
  }
}

extension MCError {
  /// The error of objects whose peer is not an own id.
  static let notOwn = MCError(
    .unavailable,
    reason: "this MCPeerID is another peer's, or was archived by another account: create one with "
      + "MCPeerID(displayName:)")
}
