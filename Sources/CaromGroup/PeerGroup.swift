import CaromCore
import CaromProtocol

/// The peers that one side is connected with, as one machine: the mesh of connections, and the
/// invitations on them.
///
/// The owner reports what discovery finds and what the session's connections do, polls the outputs
/// after each call, and carries them out in order.
package struct PeerGroup: Sendable {
  /// What the owner has to do or to know, in order.
  package enum Output: Hashable, Sendable {
    /// Open a connection to this peer. Answer with `handleOpened` or `handleDialFailed`.
    case dial(PeerID)
    /// Stop opening a connection to this peer; no answer is needed.
    case cancelDial(PeerID)
    /// Grant the seat that the peer of this connection requested.
    case admit(ConnectionID)
    /// Close this connection.
    case close(ConnectionID, Goodbye, as: DisconnectReason)
    /// Send this message on the channel of the mesh.
    case send(MeshMessage, ConnectionID)
    /// The peer and this side have joined: messages of the application can be sent and received on
    /// this connection, and on no other one to this peer.
    case joined(PeerID, ConnectionID)
    /// A peer that had joined has left.
    case left(PeerID, DisconnectReason)
    /// The peer has invited this side. Answer with `answer` before the invitation is withdrawn.
    case invited(PeerID, number: UInt32, context: [UInt8])
    /// The peer's invitation can no longer be answered.
    case withdrawn(PeerID, number: UInt32)
    /// This side's invitation has ended.
    case ended(PeerID, number: UInt32, InvitationResult)
  }

  private var mesh: Mesh
  private var invitations: Invitations
  private var outputs = Deque<Output>()

  /// Creates a group without peers, for a side with the id `local`.
  package init(
    as local: PeerID, _ options: Mesh.Options = Mesh.Options(), generator: SeededGenerator
  ) {
    mesh = Mesh(as: local, options, generator: generator)
    invitations = Invitations(as: local, joinsEveryone: options.joinsEveryone)
  }

  /// The id of this side.
  package var local: PeerID { mesh.local }

  /// The peers that have joined, in the order of their ids.
  package var members: [PeerID] { mesh.linkedPeers.filter { invitations.isJoined($0) } }

  /// Returns the connection to a peer that has joined, or nil if it has not.
  package func connection(to peer: PeerID) -> ConnectionID? {
    invitations.isJoined(peer) ? mesh.connection(to: peer) : nil
  }

  /// Returns the connection to a peer, whether or not it has joined; nil if none is selected.
  package func linkedConnection(to peer: PeerID) -> ConnectionID? { mesh.connection(to: peer) }

  /// Removes and returns the next output, or nil if there is none.
  package mutating func pollOutput() -> Output? { outputs.popFirst() }

  /// The next time at which `handleTimeout` must be called, or nil if nothing is due.
  package var nextTimeout: Instant? { earliest(mesh.nextTimeout, invitations.nextTimeout) }

  /// Does what is due at `now`.
  package mutating func handleTimeout(at now: Instant) {
    mesh.handleTimeout(at: now)
    invitations.handleTimeout(at: now)
    settle(at: now)
  }
}

// MARK: - The owner's commands
extension PeerGroup {
  /// Invites a peer, and connects to it if necessary. Returns the invitation's number, which
  /// `ended` reports; nil if this side waits for the peer's answer to an earlier invitation.
  package mutating func invite(
    _ peer: PeerID, context: [UInt8], timeout: Duration, at now: Instant
  ) -> UInt32? {
    defer { settle(at: now) }
    return invitations.invite(peer, context: context, timeout: timeout, at: now)
  }

  /// Withdraws this side's invitation to a peer, if it still has this number.
  package mutating func cancelInvitation(_ peer: PeerID, number: UInt32, at now: Instant) {
    invitations.cancel(peer, number: number, at: now)
    settle(at: now)
  }

  /// Answers the invitation of a peer. Returns false if it is no longer open.
  package mutating func answer(
    _ peer: PeerID, number: UInt32, accepting isAccepted: Bool, at now: Instant
  ) -> Bool {
    defer { settle(at: now) }
    return invitations.answer(peer, number: number, isAccepted ? .accepted : .declined, at: now)
  }

  /// Disconnects a peer, which is not connected to again until it is found again or invited.
  package mutating func disconnect(_ peer: PeerID, _ goodbye: Goodbye, at now: Instant) {
    mesh.dismiss(peer, goodbye, at: now)
    settle(at: now)
  }
}

// MARK: - Input
extension PeerGroup {
  /// A peer was found on the network, or has advertised itself again.
  package mutating func handleFound(_ peer: PeerID, at now: Instant) {
    mesh.handleFound(peer, at: now)
    settle(at: now)
  }

  /// A peer is no longer advertised. A connection to it stays.
  package mutating func handleLost(_ peer: PeerID, at now: Instant) {
    mesh.handleLost(peer, at: now)
    settle(at: now)
  }

  /// A peer requests a seat on a connection that it has opened.
  package mutating func handleRequest(
    _ connection: ConnectionID, from peer: PeerID, at now: Instant
  ) {
    mesh.handleRequest(connection, from: peer)
    settle(at: now)
  }

  /// A connection has opened.
  package mutating func handleOpened(
    _ connection: ConnectionID, _ peer: PeerID, isIncoming: Bool, at now: Instant
  ) {
    mesh.handleOpened(connection, peer, isIncoming: isIncoming, at: now)
    settle(at: now)
  }

  /// The attempt to connect to a peer has failed.
  package mutating func handleDialFailed(
    _ peer: PeerID, _ reason: DisconnectReason, at now: Instant
  ) {
    mesh.handleDialFailed(peer, reason, at: now)
    settle(at: now)
  }

  /// A connection has ended.
  package mutating func handleClosed(
    _ connection: ConnectionID, _ reason: DisconnectReason, at now: Instant
  ) {
    mesh.handleClosed(connection, reason, at: now)
    settle(at: now)
  }

  /// Handles a message on the channel of the mesh. A message that cannot be decoded, or that the
  /// peer must not send now, ends the connection.
  package mutating func receive(
    _ bytes: Span<UInt8>, on connection: ConnectionID, at now: Instant
  ) {
    var isExpected = false
    if let message = try? MeshMessage(decoding: bytes) {
      isExpected = handle(message, on: connection, at: now)
    }
    if !isExpected { mesh.handleViolation(on: connection, at: now) }
    settle(at: now)
  }

  private mutating func handle(
    _ message: MeshMessage, on connection: ConnectionID, at now: Instant
  ) -> Bool {
    switch message {
    case .hello, .use: return mesh.handle(message, on: connection, at: now)
    case .invite, .answer, .withdraw, .confirm:
      guard let peer = mesh.linkedPeer(of: connection) else { return false }
      return invitations.handle(message, from: peer, at: now)
    }
  }

  /// Passes the outputs of each machine to the other one, until neither has any.
  private mutating func settle(at now: Instant) {
    while true {
      if let output = mesh.pollOutput() {
        apply(output, at: now)
      } else if let output = invitations.pollOutput() {
        apply(output, at: now)
      } else {
        return
      }
    }
  }

  private mutating func apply(_ output: Mesh.Output, at now: Instant) {
    switch output {
    case .dial(let peer): outputs.append(.dial(peer))
    case .cancelDial(let peer): outputs.append(.cancelDial(peer))
    case .admit(let connection): outputs.append(.admit(connection))
    case .close(let connection, let goodbye, let reason):
      outputs.append(.close(connection, goodbye, as: reason))
    case .send(let message, let connection): outputs.append(.send(message, connection))
    case .linked(let peer, _, let joins): invitations.handleLinked(peer, joins: joins, at: now)
    case .unlinked(let peer, let reason):
      let hadJoined = invitations.isJoined(peer)
      invitations.handleUnlinked(peer)
      if hadJoined { outputs.append(.left(peer, reason)) }
    case .failed(let peer, let reason): invitations.handleFailed(peer, reason, at: now)
    }
  }

  private mutating func apply(_ output: Invitations.Output, at now: Instant) {
    switch output {
    case .send(let message, let peer):
      if let connection = mesh.connection(to: peer) {
        outputs.append(.send(message, connection))
      }
    case .connect(let peer): mesh.want(peer, at: now)
    case .disconnect(let peer): mesh.dismiss(peer, Goodbye(.left), at: now)
    case .joined(let peer):
      mesh.release(peer, at: now)
      if let connection = mesh.connection(to: peer) {
        outputs.append(.joined(peer, connection))
      }
    case .invited(let peer, let number, let context):
      outputs.append(.invited(peer, number: number, context: context))
    case .withdrawn(let peer, let number): outputs.append(.withdrawn(peer, number: number))
    case .ended(let peer, let number, let result):
      outputs.append(.ended(peer, number: number, result))
    }
  }
}
