import CaromCore
import CaromCrypto
import CaromProtocol
import CaromTransport

extension SessionNode {
  /// Connects to the first of `endpoints` that answers and requests a seat there. If both kinds of
  /// links are used, tries datagrams and a stream at the same time.
  ///
  /// Returns the id of the connection when the host has granted the seat. Cancelling the task
  /// abandons the attempt. `limit` bounds the time for opening the stream. `hostKey` is the public
  /// key that the host advertises, or nil if it is not known: a key that turns out to be right
  /// saves a round trip, and another one changes nothing. It does not make the node trust the host.
  public func connect(
    to endpoints: [Endpoint], hostKey: PublicKey? = nil, within limit: Duration = .seconds(10)
  ) async throws(SessionError) -> ConnectionID {
    let connection = lobby.makeConnectionID()
    let failure: SessionError? = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard !isShutDown, !Task.isCancelled else {
          return continuation.resume(returning: .transport(.cancelled))
        }
        let dial = Dial(to: endpoints, hostKey: hostKey, on: loop, waiter: continuation)
        begin(dial, as: connection, within: limit)
      }
    } onCancel: {
      Task(executorPreference: loop) { await self.abandon(connection) }
    }
    if let failure { throw failure }
    return connection
  }

  /// Requests a seat over a stream to a host that a layer above has opened and encrypted, for
  /// example with TLS. Returns the id of the connection when the host has granted the seat. The
  /// node opens no other stream for the connection. Call this on the node's loop.
  package func connect(over stream: TCPStream) async throws(SessionError) -> ConnectionID {
    let connection = lobby.makeConnectionID()
    let failure: SessionError? = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard !isShutDown, !Task.isCancelled else {
          stream.reset()
          return continuation.resume(returning: .transport(.cancelled))
        }
        dials[connection] = Dial(to: [], on: loop, waiter: continuation)
        streamConnected(stream, as: connection, isSealed: true)
      }
    } onCancel: {
      Task(executorPreference: loop) { await self.abandon(connection) }
    }
    if let failure { throw failure }
    return connection
  }

  func abandon(_ connection: ConnectionID) {
    dials[connection]?.failure = .cancelled
    close(connection, Goodbye(.left))
    endAttempt(connection, .cancelled)
  }

  /// Ends a connection attempt for which the lobby has no connection, so that no `closed` event
  /// will end the attempt.
  func endAttempt(_ connection: ConnectionID, _ error: TransportError) {
    guard !lobby.host.contains(connection), var dial = dials.removeValue(forKey: connection) else {
      return
    }
    dial.cancelTask()
    dial.resume(with: .transport(error))
  }

  /// Opens the connection that a `connect` event requested. If the attempt fails, the node looks
  /// for another host. `hostKey` has the same meaning as for `connect`.
  public func open(
    _ connection: ConnectionID, to endpoints: [Endpoint], hostKey: PublicKey? = nil,
    within limit: Duration = .seconds(5)
  ) {
    guard !isShutDown else { return }
    begin(Dial(to: endpoints, hostKey: hostKey, on: loop), as: connection, within: limit)
  }

  private func begin(_ dial: Dial, as connection: ConnectionID, within limit: Duration) {
    dials[connection] = dial
    var routes: [Route] = []
    if kinds.contains(.datagram) {
      for endpoint in dial.endpoints {
        if let socket = socket(for: endpoint) { routes.append(Route(endpoint, socket: socket)) }
      }
    }
    let token = takeToken(of: routes.map(\.endpoint))
    let isDialing =
      !routes.isEmpty
      && lobby.connect(
        connection, to: routes, key: dial.key, token: token, hostKey: dial.hostKey, at: loop.now)
    if kinds.contains(.stream) {
      dialStream(of: connection, to: dial.endpoints, within: limit)
    } else if !isDialing {
      failConnect(connection)
    }
    if isDialing { probePorts(of: connection) }
    drain()
  }

  /// Opens a new stream for a connection after all of its links have failed.
  func reconnect(_ connection: ConnectionID) {
    guard kinds.contains(.stream), let dial = dials[connection], dial.task == nil,
      !dial.endpoints.isEmpty
    else { return }
    dialStream(of: connection, to: dial.endpoints, within: .seconds(5))
  }

  private func dialStream(
    of connection: ConnectionID, to endpoints: [Endpoint], within limit: Duration
  ) {
    guard loop.isSimulated else {
      dials[connection]?.task = Task {
        await self.openStream(of: connection, to: endpoints, within: limit)
      }
      return
    }
    // The preference keeps the functions that the task calls in the simulation. On a loop of the
    // system, it would let the stream be faster than datagrams, which are preferred.
    dials[connection]?.task = Task(executorPreference: loop) {
      await self.openStream(of: connection, to: endpoints, within: limit)
    }
  }

  private func openStream(
    of connection: ConnectionID, to endpoints: [Endpoint], within limit: Duration
  ) async {
    do throws(TransportError) {
      let stream = try await TCPStream.connect(to: endpoints, on: loop, deadline: limit)
      streamConnected(stream, as: connection)
    } catch {
      streamFailed(connection, error)
    }
  }

  func streamConnected(
    _ stream: TCPStream, as connection: ConnectionID, isSealed: Bool = false
  ) {
    dials[connection]?.task = nil
    // In the meantime, the attempt may have been cancelled, or refused over datagrams.
    guard !isShutDown, let dial = dials[connection],
      lobby.handleStreamConnected(
        connection, key: dial.key, hostKey: dial.hostKey, isSealed: isSealed, at: loop.now)
    else {
      stream.close()
      drain()
      return endAttempt(connection, .cancelled)
    }
    adopt(stream, as: connection)
  }

  /// Abandons the attempt to open the connection that a `connect` event requested.
  public func failConnect(_ connection: ConnectionID) {
    dials[connection]?.task = nil
    lobby.handleStreamFailed(connection, at: loop.now)
    drain()
    endAttempt(connection, dials[connection]?.failure ?? .unreachable)
  }

  /// Handles the failure to open a stream. The host may still answer over datagrams.
  private func streamFailed(_ connection: ConnectionID, _ error: TransportError) {
    dials[connection]?.failure = error
    failConnect(connection)
    if dials[connection]?.isPortRefused == true { giveUp(connection) }
  }

  /// Reports a host that discovery has found, or whose advertisement has changed, to the
  /// matchmaker.
  public func addHost(_ sighting: Sighting) {
    lobby.handle(sighting, at: loop.now)
    drain()
  }

  /// Reports to the matchmaker that a host is no longer advertised.
  public func removeHost(_ peer: PeerID) {
    lobby.handleRemoved(peer, at: loop.now)
    drain()
  }
}
