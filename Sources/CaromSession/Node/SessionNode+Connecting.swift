import CaromCore
import CaromProtocol
import CaromTransport

extension SessionNode {
  /// Connects to the first of `endpoints` that answers, over datagrams and a stream at the same
  /// time if both kinds are wanted, and asks for a seat there.
  ///
  /// Returns when the host has granted the seat. Cancelling the task abandons the attempt.
  public func connect(
    to endpoints: [Endpoint], within limit: Duration = .seconds(10)
  ) async throws(SessionError) -> ConnectionID {
    guard !isShutDown else { throw .transport(.cancelled) }
    let connection = lobby.makeConnectionID()
    let failure = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        begin(Dial(to: endpoints, waiter: continuation), as: connection, within: limit)
      }
    } onCancel: {
      Task(executorPreference: loop) { await self.abandon(connection) }
    }
    if let failure { throw failure }
    return connection
  }

  private func abandon(_ connection: ConnectionID) {
    dials[connection]?.cancelTask()
    close(connection, Goodbye(.left))
    dials[connection]?.resume(with: .transport(.cancelled))
  }

  /// Opens the connection that a `connect` event asked for. The attempt may fail, which a `closed`
  /// event reports.
  public func open(
    _ connection: ConnectionID, to endpoints: [Endpoint], within limit: Duration = .seconds(5)
  ) {
    guard !isShutDown else { return }
    begin(Dial(to: endpoints), as: connection, within: limit)
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
      && lobby.connect(connection, to: routes, key: dial.key, token: token, at: loop.now)
    if kinds.contains(.stream) {
      dialStream(of: connection, to: dial.endpoints, within: limit)
    } else if !isDialing {
      failConnect(connection)
    }
    drain()
  }

  /// Dials the stream of a connection again, after all of its links have failed.
  func reconnect(_ connection: ConnectionID) {
    guard kinds.contains(.stream), let dial = dials[connection], dial.task == nil else { return }
    dialStream(of: connection, to: dial.endpoints, within: .seconds(5))
  }

  private func dialStream(
    of connection: ConnectionID, to endpoints: [Endpoint], within limit: Duration
  ) {
    dials[connection]?.task = Task {
      do throws(TransportError) {
        let stream = try await TCPStream.connect(to: endpoints, on: self.loop, deadline: limit)
        self.streamConnected(stream, as: connection)
      } catch {
        self.streamFailed(connection, error)
      }
    }
  }

  private func streamConnected(_ stream: TCPStream, as connection: ConnectionID) {
    dials[connection]?.task = nil
    // The host may have refused the connection over datagrams in the meantime.
    guard !isShutDown, let dial = dials[connection],
      lobby.handleStreamConnected(connection, key: dial.key, at: loop.now)
    else { return stream.close() }
    adopt(stream, as: connection)
  }

  /// Ends the attempt to open the connection that a `connect` event asked for.
  public func failConnect(_ connection: ConnectionID) {
    dials[connection]?.task = nil
    lobby.handleStreamFailed(connection, at: loop.now)
    drain()
  }

  /// Returns the stream could not be opened. The host may still answer over datagrams.
  private func streamFailed(_ connection: ConnectionID, _ error: TransportError) {
    dials[connection]?.failure = error
    failConnect(connection)
    if !lobby.host.contains(connection) {
      dials[connection]?.resume(with: .transport(error))
    }
  }

  /// In matchmaking mode: reports a host that discovery has found, or whose advertisement has
  /// changed.
  public func addHost(_ sighting: Sighting) {
    lobby.handle(sighting, at: loop.now)
    drain()
  }

  /// In matchmaking mode: reports that a host is no longer advertised.
  public func removeHost(_ peer: PeerID) {
    lobby.handleRemoved(peer, at: loop.now)
    drain()
  }
}
