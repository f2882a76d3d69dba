import CaromTransport
import Foundation

/// What an `MCAdvertiserAssistant` reports.
public protocol MCAdvertiserAssistantDelegate: NSObjectProtocol {
  /// An invitation is about to be presented.
  func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant)

  /// An invitation was answered.
  func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant)
}

extension MCAdvertiserAssistantDelegate {
  /// Does nothing.
  public func advertiserAssistantWillPresentInvitation(
    _ advertiserAssistant: MCAdvertiserAssistant
  ) {}

  /// Does nothing.
  public func advertiserAssistantDidDismissInvitation(
    _ advertiserAssistant: MCAdvertiserAssistant
  ) {}
}

/// Makes this side visible, and answers invitations for a session.
///
/// Apple's assistant shows each invitation to the user. This one has no face: `presentInvitation`
/// asks in the application's own way, and while it is nil, every invitation is accepted.
open class MCAdvertiserAssistant: NSObject,
  @unchecked Sendable  // the properties are constant, or locked
{
  /// Asks whether an invitation is accepted. The last argument takes the answer, once.
  public typealias Presenter = (MCPeerID, Data?, @escaping (Bool) -> Void) -> Void

  private struct State: @unchecked Sendable {  // only the properties below hand it on
    weak var delegate: (any MCAdvertiserAssistantDelegate)?
    var presenter: Presenter?
  }

  /// The session that invited peers join.
  public let session: MCSession
  private let advertiser: MCNearbyServiceAdvertiser
  private let state = Locked(State())

  /// Creates an assistant, which does nothing before `start`. Traps if the service type is not
  /// valid (RFC 6335, section 5.1).
  public init(serviceType: String, discoveryInfo info: [String: String]?, session: MCSession) {
    self.session = session
    advertiser = MCNearbyServiceAdvertiser(
      peer: session.myPeerID, discoveryInfo: info, serviceType: serviceType)
    super.init()
    advertiser.delegate = self
  }

  /// The object that is told when invitations are presented. It is not retained.
  open var delegate: (any MCAdvertiserAssistantDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  /// Asks whether an invitation is accepted, on the queue of the delegate calls; nil to accept all.
  open var presentInvitation: Presenter? {
    get { state.withLock { $0.presenter } }
    set { state.withLock { $0.presenter = newValue } }
  }

  /// The key-value pairs that browsers see.
  public var discoveryInfo: [String: String]? { advertiser.discoveryInfo }
  /// The service type.
  public var serviceType: String { advertiser.serviceType }

  /// Makes the peer visible.
  open func start() { advertiser.startAdvertisingPeer() }

  /// Makes the peer invisible.
  open func stop() { advertiser.stopAdvertisingPeer() }
}

extension MCAdvertiserAssistant: MCNearbyServiceAdvertiserDelegate {
  /// Asks the presenter, and answers the invitation.
  public func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
    withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) {
    guard let presenter = presentInvitation else { return invitationHandler(true, session) }
    delegate?.advertiserAssistantWillPresentInvitation(self)
    presenter(peerID, context) { [self] isAccepted in
      invitationHandler(isAccepted, isAccepted ? session : nil)
      delegate?.advertiserAssistantDidDismissInvitation(self)
    }
  }
}
