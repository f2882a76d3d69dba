import CaromCore
import CaromProtocol
import CaromTransport

/// A protocol between a session's connections and its application. It decides which connections are
/// admitted, and which of the open ones are peers of the session, and it has channels of its own.
package struct PeerGate: Sendable {
  /// The gate's channels, 0 to 63.
  let channels: ClosedRange<UInt8>
  /// Sets the handlers of a hub.
  let install: @Sendable (isolated SessionHub) -> Void

  /// Creates a gate whose handlers run isolated to `owner`, an actor on the loop of the session.
  /// The gate holds `owner` weakly.
  ///
  /// - Parameters:
  ///   - owner: The actor that the gate belongs to.
  ///   - channels: The gate's channels, 0 to 63. All others are those of the session.
  ///   - event: Receives the node's events before the session does, and answers requests for seats.
  ///   - message: Receives the messages on the gate's channels. The bytes of a message are valid
  ///     only during the call.
  package init<Owner: LoopActor>(
    owner: Owner, channels: ClosedRange<UInt8>,
    event: @escaping @Sendable (isolated Owner, SessionEvent) -> Void,
    message: @escaping @Sendable (isolated Owner, borrowing SessionMessage) -> Void
  ) {
    self.channels = channels
    install = { [weak owner] hub in
      guard let owner else { return }
      let callbacks = ActorCallbacks(owner, on: hub.loop)
      hub.gateEvent = callbacks.bind(event)
      hub.gateMessage = callbacks.bindBorrowing(message)
    }
  }
}

extension Session {
  /// Runs `body` with the session of a node whose peers `gate` chooses.
  package static func run<Result>(
    _ node: SessionNode, through gate: PeerGate, _ body: (Session) async throws -> Result
  ) async throws -> Result {
    let session = await Session([node], admit: { _ in .accept }, gate: gate)
    return try await session.run { try await body(session) }
  }

  /// Makes an open connection a peer of the session. Called by the gate, on the loop.
  package func join(_ connection: ConnectionID) { hubs[0].assumeIsolated { $0.join(connection) } }

  /// Ends a connection's part in the session, although the connection may end later. Called by the
  /// gate, on the loop.
  package func leave(_ connection: ConnectionID, _ reason: DisconnectReason) {
    hubs[0].assumeIsolated { $0.remove(connection, reason) }
  }

  /// Returns the handle of a peer, or nil if no peer of the session has this connection. Called on
  /// the loop.
  package func peer(_ connection: ConnectionID) -> Peer? {
    hubs[0].assumeIsolated { $0.peer(connection) }
  }
}

extension SessionHub {
  /// Prepares the node for a gate: connections join when the gate says so, and the gate's channels
  /// are read from the beginning.
  func open(_ gate: PeerGate) {
    gate.install(self)
    node.assumeIsolated { node in
      var own = ChannelMask()
      for channel in gate.channels { own.insert(channel) }
      node.holdConnections(channels: own.inverted)
      for channel in gate.channels { node.resume(channel: channel) }
    }
  }

  /// Makes an open connection a peer of the session: emits `joined`, and then delivers the messages
  /// that have arrived before.
  func join(_ connection: ConnectionID) {
    guard let peer = unjoined.removeValue(forKey: connection) else { return }
    add(peer)
    deliverEarly(from: peer)
    node.assumeIsolated { $0.join(connection) }
  }
}
