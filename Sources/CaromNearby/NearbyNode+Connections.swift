import CaromCore
import CaromDiscovery
import CaromGroup
import CaromProtocol
import CaromSession
import CaromTransport

// Connections: what the session node reports, attempts to connect, and the application's commands.
extension NearbyNode {
  func handle(_ event: SessionEvent) {
    let now = loop.now
    switch event {
    case .requested(let connection, let info, _):
      group.handleRequest(connection, from: info.id, at: now)
    case .opened(let connection, let info):
      let isIncoming = node.assumeIsolated { $0.isIncoming(connection) }
      group.handleOpened(connection, info.id, isIncoming: isIncoming, at: now)
    case .closed(let connection, _, let reason, _):
      group.handleClosed(connection, reason, at: now)
    default: return
    }
    drain()
  }

  func receive(_ message: borrowing SessionMessage) {
    group.receive(message.bytes, on: message.connectionID, at: loop.now)
    drain()
  }

  // MARK: Attempts

  func dial(_ peer: PeerID) {
    dials[peer]?.cancel()
    dials[peer] = Task(executorPreference: loop) { await self.open(peer) }
  }

  private func open(_ peer: PeerID) async {
    var reason = DisconnectReason.connectionLost
    do {
      let endpoints = try await endpoints(of: peer)
      guard !Task.isCancelled else { return }
      _ = try await node.connect(to: endpoints, within: Self.connectLimit)
      // If it is another peer that has answered there, the machine has not been told of this one.
      reason = .identityMismatch
    } catch SessionError.refused(let why) {
      reason = why
    } catch {}
    guard !Task.isCancelled else { return }
    dials[peer] = nil
    group.handleDialFailed(peer, reason, at: loop.now)
    drain()
  }

  private func endpoints(of peer: PeerID) async throws -> [Endpoint] {
    if let known = added[peer] { return known.endpoints }
    let candidates = services.values.filter { $0.peer.id == peer }
      .sorted { $0.service.name < $1.service.name }
    guard let discovery, !candidates.isEmpty else { throw DiscoveryError.timedOut }
    let attempt = attempts[peer, default: 0]
    attempts[peer] = attempt &+ 1
    let service = candidates[attempt % candidates.count].service
    lastResolving += 1
    let number = lastResolving
    let result = await withCheckedContinuation { continuation in
      // Discovery that has been closed in the meantime calls no handler.
      resolving[number] = continuation
      if self.discovery == nil { return endResolving(number, .failure(.closed)) }
      do throws(DiscoveryError) {
        try discovery.resolve(service, within: Self.resolveLimit) { [weak self] result in
          self?.assumeIsolated { $0.endResolving(number, result) }
        }
      } catch { endResolving(number, .failure(error)) }
    }
    return try result.get().endpoints
  }

  func endResolving(_ number: Int, _ result: Result<ResolvedService, DiscoveryError>) {
    resolving.removeValue(forKey: number)?.resume(returning: result)
  }

  // MARK: Commands

  func invite(
    _ peer: PeerID, context: [UInt8], within limit: Duration
  ) async -> InvitationResult {
    guard !isEnding else { return .cancelled }
    let number = group.invite(peer, context: context, timeout: limit, at: loop.now)
    guard let number else { return .busy }
    calls[number] = .running
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // Other work of the loop may have run since the call began, and may have ended it.
        if case .ended(let result) = calls[number] {
          calls[number] = nil
          return continuation.resume(returning: result)
        }
        calls[number] = .waiting(continuation)
        drain()
      }
    } onCancel: {
      Task(executorPreference: loop) { await self.cancelInvitation(of: peer, number) }
    }
  }

  private func cancelInvitation(of peer: PeerID, _ number: UInt32) {
    group.cancelInvitation(peer, number: number, at: loop.now)
    drain()
  }

  func answer(_ peer: PeerID, _ number: UInt32, accepting isAccepted: Bool) -> Bool {
    defer { drain() }
    return group.answer(peer, number: number, accepting: isAccepted, at: loop.now)
  }

  func disconnect(_ peer: PeerID, _ goodbye: Goodbye) {
    group.disconnect(peer, goodbye, at: loop.now)
    drain()
  }
}
