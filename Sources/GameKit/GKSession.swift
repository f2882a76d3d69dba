import CaromBonjour
import CaromTransport
import Foundation
import MultipeerConnectivity

/// A session of nearby devices, which find each other by a session identifier.
///
/// It is an `MCSession` with other names: what the page Multipeer of `Carom` says of connections,
/// delegates and interfaces holds here as well.
open class GKSession: NSObject,
  @unchecked Sendable  // the properties are constant, or locked
{
  struct Peer: @unchecked Sendable {  // the handler is called once, under no lock
    let id: MCPeerID
    var state: GKPeerConnectionState
    var isVisible = false
    /// The invitation that waits for `acceptConnection` or `denyConnection`.
    var answer: ((Bool, MCSession?) -> Void)?
    /// The end of this side's attempt to connect; nil if there is none.
    var deadline: ContinuousClock.Instant?
    /// Whether the application has cancelled that attempt.
    var isCancelled = false
  }

  struct State: @unchecked Sendable {  // the delegate and the handler have a queue of their own
    weak var delegate: (any GKSessionDelegate)?
    weak var handler: (any GKSessionDataHandler)?
    var context: Any?
    var isAvailable = false
    var disconnectTimeout: TimeInterval = 20
    var peers: [String: Peer] = [:]
  }

  /// The maximum length of reliable data, in bytes: a message of the session underneath has at most
  /// 64 MiB, and its first byte is the kind.
  public static let maximumDataLength = (64 << 20) - 1
  /// The maximum length of unreliable data, in bytes.
  static let maximumUnreliableLength = (64 << 10) - 1
  /// The key of the discovery info with the session identifier.
  static let sessionKey = "session"

  /// The session identifier. Only sessions with the same one see each other.
  public let sessionID: String
  /// What the session does on the network.
  public let sessionMode: GKSessionMode
  let session: MCSession
  let advertiser: MCNearbyServiceAdvertiser
  let browser: MCNearbyServiceBrowser
  let state = Locked(State())

  /// Creates a session that is not on the network before `isAvailable` is set.
  ///
  /// - Parameters:
  ///   - sessionID: Any text; nil for the name of the process.
  ///   - name: The name that others see, at most 63 bytes of UTF-8; nil for this host's name.
  ///   - mode: What the session does on the network.
  public init(sessionID: String?, displayName name: String?, sessionMode mode: GKSessionMode) {
    let text = sessionID ?? ProcessInfo.processInfo.processName
    let id = BonjourSessionID(text)
    let peer = MCPeerID(displayName: name ?? "")
    self.sessionID = text
    sessionMode = mode
    session = MCSession(peer: peer)
    advertiser = MCNearbyServiceAdvertiser(
      peer: peer, discoveryInfo: Self.info(of: text), serviceType: id.serviceType.name)
    browser = MCNearbyServiceBrowser(peer: peer, serviceType: id.serviceType.name)
    super.init()
    session.delegate = self
    advertiser.delegate = self
    browser.delegate = self
  }

  /// An identifier that is too long for a record is told apart by its service type alone.
  static func info(of sessionID: String) -> [String: String]? {
    sessionID.utf8.count <= 200 ? [sessionKey: sessionID] : nil
  }

  /// The string that names a peer in this interface.
  static func key(_ peer: MCPeerID) -> String {
    let digits = String(UInt64(bitPattern: Int64(peer.hash)), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The object that is told about peers. It is not retained.
  open var delegate: (any GKSessionDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  /// The string that names this side.
  open var peerID: String { Self.key(session.myPeerID) }
  /// The name that others see.
  open var displayName: String { session.myPeerID.displayName }

  /// Whether the session is visible, and looks for others, as its mode says. Connected peers stay
  /// connected when it is set to false.
  open var isAvailable: Bool {
    get { state.withLock { $0.isAvailable } }
    set {
      state.withLock { $0.isAvailable = newValue }
      if newValue {
        if sessionMode != .client { advertiser.startAdvertisingPeer() }
        if sessionMode != .server { browser.startBrowsingForPeers() }
      } else {
        advertiser.stopAdvertisingPeer()
        browser.stopBrowsingForPeers()
      }
    }
  }

  /// Kept because code sets it: the time after which a silent peer counts as lost is 14 s.
  open var disconnectTimeout: TimeInterval {
    get { state.withLock { $0.disconnectTimeout } }
    set { state.withLock { $0.disconnectTimeout = newValue } }
  }

  /// Returns the name of a peer; nil if the peer is not known.
  open func displayName(forPeer peerID: String) -> String? {
    state.withLock { $0.peers[peerID]?.id.displayName }
  }

  /// The peers in a state, in the order of their strings.
  open func peers(with state: GKPeerConnectionState) -> [String] {
    self.state.withLock { $0.peers.filter { $0.value.state == state }.keys.sorted() }
  }

  // MARK: Data

  /// The first byte of each message between sessions.
  enum Kind: UInt8 {
    /// The application's data follows.
    case data = 0
    /// The 16 digits of a peer follow, which has to leave.
    case leave = 1
  }

  /// Sends data to peers, without waiting. Throws a `GKSessionError` if the data is too long or a
  /// peer is not connected; the others get it all the same.
  open func send(_ data: Data, toPeers peers: [String], with mode: GKSendDataMode) throws {
    let ids = state.withLock { state in peers.map { state.peers[$0]?.id } }
    let known = ids.compactMap { $0 }
    guard !peers.isEmpty else { throw GKSessionError(.invalidParameter) }
    try send(.data, data, to: known, mode)
    if known.count < peers.count { throw GKSessionError(.peerNotFound) }
  }

  /// Sends data to all connected peers. Does nothing if there are none.
  open func sendData(toAllPeers data: Data, with mode: GKSendDataMode) throws {
    let peers = session.connectedPeers
    if !peers.isEmpty { try send(.data, data, to: peers, mode) }
  }

  func send(
    _ kind: Kind, _ data: Data, to peers: [MCPeerID], _ mode: GKSendDataMode
  ) throws(GKSessionError) {
    let limit = mode == .reliable ? Self.maximumDataLength : Self.maximumUnreliableLength
    guard data.count <= limit else { throw GKSessionError(.dataTooBig) }
    guard !peers.isEmpty else { return }
    do {
      try session.send(
        Data([kind.rawValue]) + data, toPeers: peers,
        with: mode == .reliable ? .reliable : .unreliable)
    } catch MCError.notConnected {
      throw GKSessionError(.notConnected)
    } catch { throw GKSessionError(.transport, reason: "\(error)") }
  }

  /// Sets the object that receives data, which is not retained, and what it is given with it.
  open func setDataReceiveHandler(_ handler: Any?, withContext context: Any?) {
    state.withLock { state in
      state.handler = handler as? any GKSessionDataHandler
      state.context = context
    }
  }

  // MARK: Connections

  /// Connects to a peer that is visible. The delegate is told how it ends.
  ///
  /// - Parameter timeout: The time limit, in seconds.
  open func connect(toPeer peerID: String, withTimeout timeout: TimeInterval) {
    let peer = state.withLock { state -> Result<MCPeerID, GKSessionError> in
      guard let peer = state.peers[peerID] else { return .failure(GKSessionError(.peerNotFound)) }
      guard peer.deadline == nil, peer.state != .stateConnected else {
        return .failure(GKSessionError(.inProgress))
      }
      state.peers[peerID]?.isCancelled = false
      state.peers[peerID]?.deadline = .now + .seconds(timeout > 0 ? timeout : 30)
      return .success(peer.id)
    }
    switch peer {
    case .success(let peer):
      browser.invitePeer(peer, to: session, withContext: nil, timeout: timeout)
    case .failure(let error):
      session.performOnDelegateQueue { [self] in
        delegate?.session(self, connectionWithPeerFailed: peerID, withError: error)
      }
    }
  }

  /// Stops an attempt to connect to a peer.
  open func cancelConnect(toPeer peerID: String) {
    let peer = state.withLock { state in
      state.peers[peerID]?.isCancelled = true
      return state.peers[peerID]?.id
    }
    if let peer { session.cancelConnectPeer(peer) }
  }

  /// Accepts a peer that wants to connect. Throws `GKSessionError.peerNotFound` if it has not
  /// asked.
  open func acceptConnection(fromPeer peerID: String) throws {
    guard let answer = takeAnswer(to: peerID) else { throw GKSessionError(.peerNotFound) }
    answer(true, session)
  }

  /// Refuses a peer that wants to connect.
  open func denyConnection(fromPeer peerID: String) { takeAnswer(to: peerID)?(false, nil) }

  private func takeAnswer(to peerID: String) -> ((Bool, MCSession?) -> Void)? {
    state.withLock { state in
      defer { state.peers[peerID]?.answer = nil }
      return state.peers[peerID]?.answer
    }
  }

  /// Tells a peer to leave the session, and with it all of its members.
  open func disconnectPeer(fromAllPeers peerID: String) {
    let peer = state.withLock { $0.peers[peerID]?.id }
    if let peer { try? send(.leave, Data(peerID.utf8), to: [peer], .reliable) }
  }

  /// Leaves the session. What was sent before is still delivered.
  open func disconnectFromAllPeers() { session.disconnect() }
}
