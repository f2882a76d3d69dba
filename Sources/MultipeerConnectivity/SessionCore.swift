import CaromCore
import CaromGroup
import CaromNearby
import CaromSession
import CaromTransport
import Dispatch
import Foundation

/// What stands behind an `MCSession`: its connected members, and the calls of its delegate.
final class SessionCore: Sendable {
  /// A connected member.
  struct Connection: Sendable {
    let peerID: MCPeerID
    let peer: Peer
    let outbox: Outbox
  }

  private struct State: Sendable {
    weak var owner: MCSession?
    var connections: [Connection] = []
    /// The peers that were given this session's connection data.
    var expected: Set<PeerID> = []
  }

  let myPeerID: MCPeerID
  let preference: MCEncryptionPreference
  let token = SessionToken()
  /// Nil if the session's peer is not an own id.
  let handle: EngineHandle?
  let calls: DelegateCalls
  private let state = Locked(State())

  init(_ myPeerID: MCPeerID, _ preference: MCEncryptionPreference) {
    self.myPeerID = myPeerID
    self.preference = preference
    handle = EngineHandle.shared(for: myPeerID)
    calls = DelegateCalls(
      on: handle?.engine.queue ?? DispatchQueue(label: "MultipeerConnectivity"))
  }

  /// The session that the delegate is told about; nil once it is released.
  var owner: MCSession? {
    get { state.withLock { $0.owner } }
    set { state.withLock { $0.owner = newValue } }
  }

  var connectedPeers: [MCPeerID] { state.withLock { $0.connections.map(\.peerID) } }

  /// The connected members, in the order in which they connected.
  var connections: [Connection] { state.withLock { $0.connections } }

  func connection(to peer: MCPeerID) -> Connection? {
    state.withLock { $0.connections.first { $0.peerID.id == peer.id } }
  }

  func expect(_ peer: PeerID) { state.withLock { _ = $0.expected.insert(peer) } }

  func expects(_ peer: PeerID) -> Bool { state.withLock { $0.expected.contains(peer) } }
}

// MARK: - Reports
extension SessionCore {
  /// Queues a call of the delegate.
  func report(_ call: @escaping @Sendable (MCSession, any MCSessionDelegate) -> Void) {
    calls.post { [weak self] in
      guard let owner = self?.owner, let delegate = owner.delegate else { return }
      call(owner, delegate)
    }
  }

  func reportConnecting(_ peer: MCPeerID) {
    report { $1.session($0, peer: peer, didChange: .connecting) }
  }

  func reportConnected(_ connection: Connection) {
    state.withLock { $0.connections.append(connection) }
    let peer = connection.peerID
    report { $1.session($0, peer: peer, didChange: .connected) }
  }

  func reportNotConnected(_ peer: MCPeerID) {
    state.withLock { $0.connections.removeAll { $0.peerID.id == peer.id } }
    report { $1.session($0, peer: peer, didChange: .notConnected) }
  }

  func reportData(_ bytes: [UInt8], from peer: MCPeerID, _ backlog: Backlog) {
    let share = backlog.add(bytes.count)
    report {
      $1.session($0, didReceive: Data(bytes), fromPeer: peer)
      withExtendedLifetime(share) {}
    }
  }
}

// MARK: - Sending
extension SessionCore {
  /// Sends data to those of `peers` that are connected. Throws `notConnected` afterwards if others
  /// were not.
  func send(_ data: Data, to peers: [MCPeerID], _ mode: MCSessionSendDataMode) throws(MCError) {
    guard !peers.isEmpty else {
      throw MCError(.invalidParameter, reason: "the list of peers is empty")
    }
    let limit = mode == .reliable ? MemberMessage.maximumDataLength : 64 << 10
    guard data.count <= limit else {
      throw MCError(
        .invalidParameter,
        reason: "the data has \(data.count) bytes, and at most \(limit) can be sent: "
          + "send a resource instead")
    }
    let bytes = [UInt8](data)
    let messages = mode == .reliable ? Self.messages(of: bytes) : []
    var failure: MCError?
    for peer in peers {
      guard let connection = connection(to: peer) else {
        failure = MCError(
          .notConnected, reason: "\(peer.displayName) is not connected to this session")
        continue
      }
      if mode == .unreliable {
        // What is not accepted is lost, as any unreliable data may be.
        _ = connection.peer.post(RawMessage(bytes), on: PeerEngine.unreliable)
      } else if !connection.outbox.append(messages) {
        failure = MCError(
          .unavailable,
          reason: "too much data waits to be sent to \(peer.displayName): send less, or wait")
      }
    }
    if let failure { throw failure }
  }

  private static func messages(of bytes: [UInt8]) -> [[UInt8]] {
    var messages: [[UInt8]] = []
    var rest = bytes[...]
    while rest.count > MemberMessage.partLength {
      messages.append(MemberMessage.part(Array(rest.prefix(MemberMessage.partLength))).encoded)
      rest = rest.dropFirst(MemberMessage.partLength)
    }
    return messages + [MemberMessage.data(Array(rest)).encoded]
  }
}
