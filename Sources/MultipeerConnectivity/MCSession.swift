import CaromCore
import CaromTransport
import Foundation

/// A group of peers that are all connected with each other.
///
/// A peer joins by an invitation (`MCNearbyServiceBrowser`), or with connection data that was
/// exchanged in another way. It then connects with every member of the session. Each pair of own
/// ids shares one connection, so a peer is a member of one session of an own id at a time.
open class MCSession: NSObject,
  @unchecked Sendable  // the properties are constant, or locked
{
  /// The own id of this side.
  public let myPeerID: MCPeerID
  /// What was given as this side's identity. It is kept, and nothing else: the key pair of the own
  /// id proves this side's identity to other peers.
  public let securityIdentity: [Any]?
  /// Which sessions this one meets.
  public let encryptionPreference: MCEncryptionPreference
  let core: SessionCore

  /// Creates a session that requires encryption.
  public convenience init(peer myPeerID: MCPeerID) {
    self.init(peer: myPeerID, securityIdentity: nil, encryptionPreference: .required)
  }

  /// Creates a session without peers.
  public init(
    peer myPeerID: MCPeerID, securityIdentity identity: [Any]?,
    encryptionPreference: MCEncryptionPreference
  ) {
    self.myPeerID = myPeerID
    securityIdentity = identity
    self.encryptionPreference = encryptionPreference
    core = SessionCore(myPeerID, encryptionPreference)
    super.init()
    core.owner = self
  }

  deinit {
    core.calls.end()
    disconnectAll()
  }

  /// The object that is told about peers and what they send. It is not retained.
  open var delegate: (any MCSessionDelegate)? {
    get { core.calls.delegate as? any MCSessionDelegate }
    set { core.calls.delegate = newValue }
  }

  /// The peers that are connected, in the order in which they connected, without this side.
  open var connectedPeers: [MCPeerID] { core.connectedPeers }

  /// Sends data to peers, without waiting.
  ///
  /// Reliable data has at most 64 MiB, and unreliable data 64 KiB. If some of the peers are not
  /// connected, the others get the data all the same.
  ///
  /// Throws `MCError.invalidParameter` if the list of peers is empty or the data too long,
  /// `notConnected` if a peer is not connected, and `unavailable` if more than 128 MiB wait to be
  /// sent to a peer.
  open func send(
    _ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode
  ) throws {
    try core.send(data, to: peerIDs, mode)
  }

  /// Leaves the session: what was sent before is still delivered, and all peers are disconnected.
  /// The session can be used again.
  open func disconnect() { disconnectAll() }

  private func disconnectAll() {
    let core = core
    core.handle?.engine.post { $0.disconnect(core) }
  }

  // MARK: Resources and streams

  /// Sends a file to a peer.
  ///
  /// - Parameters:
  ///   - resourceURL: The URL of a file.
  ///   - resourceName: What the peer is told: at most 255 bytes of UTF-8. Each byte of a character
  ///     that the name of a file cannot contain counts three times.
  ///   - peerID: A connected peer.
  ///   - completionHandler: Called on the queue of the delegate calls: with nil once the peer has
  ///     stored the whole file and verified its hash, or with an error.
  /// - Returns: The progress, which can cancel the transfer; nil if the transfer cannot begin.
  @discardableResult
  open func sendResource(
    at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
    withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
  ) -> Progress? {
    core.sendResource(at: resourceURL, named: resourceName, to: peerID, completionHandler)
  }

  /// Opens a byte stream to a peer, in the direction to the peer. Open the returned stream, and
  /// write to it, or set its delegate and schedule it in a run loop first.
  ///
  /// Throws `MCError.notConnected` if the peer is not connected, and `invalidParameter` if the name
  /// has more than 255 bytes of UTF-8.
  @discardableResult
  open func startStream(
    withName streamName: String, toPeer peerID: MCPeerID
  ) throws -> OutputStream {
    try core.startStream(named: streamName, to: peerID)
  }

  // MARK: Discovery by the application

  /// Makes the data with which a peer connects to this session. Send it to the peer in a way of
  /// your own, together with an archive of the own id, and let it call `connectPeer`. The data is
  /// valid for this peer alone, until this session is disconnected.
  ///
  /// `completionHandler` is called on the queue of the delegate calls.
  open func nearbyConnectionData(
    forPeer peerID: MCPeerID,
    withCompletionHandler completionHandler: @escaping (Data?, (any Error)?) -> Void
  ) {
    core.makeConnectionData(for: peerID, completionHandler)
  }

  /// Connects to a peer with the connection data of its session. The delegate is told how it ends.
  open func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) {
    core.connect(to: peerID, with: [UInt8](data))
  }

  /// Stops an attempt to connect to a peer. A connected peer stays connected.
  open func cancelConnectPeer(_ peerID: MCPeerID) {
    let core = core
    core.handle?.engine.post { $0.cancelConnecting(to: peerID.id, core) }
  }
}

extension MCSession {
  /// Makes the data with which a peer connects to this session, as the method with a completion
  /// handler does.
  public func nearbyConnectionData(forPeer peerID: MCPeerID) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      nearbyConnectionData(forPeer: peerID) { data, error in
        if let data { return continuation.resume(returning: data) }
        continuation.resume(throwing: error ?? MCError(.unknown))
      }
    }
  }
}
