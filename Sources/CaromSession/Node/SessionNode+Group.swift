import CaromCore
import CaromProtocol
import CaromTransport

// Nodes that share one port, each on its own loop. The system assigns each stream, and each remote
// address, to one of the sockets. Streams and datagrams that arrive on the wrong node are
// forwarded.
extension SessionNode {
  /// Makes all of `nodes` listen on one port that no other program uses. If `port` is 0, the system
  /// chooses the port. Returns the port.
  static func listen(
    _ nodes: [SessionNode], on addresses: [IPAddress], port: UInt16
  ) async throws(TransportError) -> UInt16 {
    for attempt in 1... {
      do throws(TransportError) {
        return try await listenOnce(nodes, on: addresses, port: port)
      } catch .addressInUse where port == 0 && attempt < portAttempts {
        continue
      }
    }
    preconditionFailure("the loop above returns or throws")
  }

  private static func listenOnce(
    _ nodes: [SessionNode], on addresses: [IPAddress], port: UInt16
  ) async throws(TransportError) -> UInt16 {
    // Sockets that share a port would also share it with any other program of the same user that
    // allows sharing, so first find a port that is free.
    let chosen = try await nodes[0].findFreePort(on: addresses, port: port)
    do throws(TransportError) {
      for node in nodes { try await node.listen(among: nodes, on: addresses, port: chosen) }
    } catch {
      for node in nodes { await node.stopListening() }
      throw error
    }
    return chosen
  }

  private func findFreePort(
    on addresses: [IPAddress], port: UInt16
  ) throws(TransportError) -> UInt16 {
    defer { stopListening() }
    return try Self.retrying(port) { () throws(TransportError) in
      try listenOnce(on: addresses, port: port)
    }
  }

  private func listen(
    among nodes: [SessionNode], on addresses: [IPAddress], port: UInt16
  ) throws(TransportError) {
    group?.nodes = nodes
    _ = try listenOnce(on: addresses, port: port, shared: true)
  }

  private func stopListening() {
    sockets.closeListeners()
    sockets.closeDatagrams()
  }
}

// MARK: - Forwarding
extension SessionNode {
  /// Resolves the directory requests of the node, and forwards datagrams, streams and evictions to
  /// other nodes.
  func exchangeWithGroup() {
    guard let share = group?.share else { return }
    if lobby.host.hasDirectoryRequests {
      let now = loop.now
      share.directory.withLock { lobby.host.resolveRequests(with: &$0, at: now) }
    }
    while let (mail, member) = lobby.host.pollHandoff() { forward(mail, to: member) }
  }

  private func forward(_ mail: Handoff, to member: Int) {
    var handoff = NodeHandoff(mail: mail)
    switch mail {
    case .datagram: group?.datagramsForwarded += 1
    case .stream(let connection, _):
      guard let stream = sockets.streams.removeValue(forKey: connection) else { return }
      do throws(TransportError) {
        handoff.stream = try stream.detach()
        group?.streamsForwarded += 1
      } catch { return dispose(of: stream, abruptly: true) }
    case .evict, .evicted: break
    }
    guard let nodes = group?.nodes, nodes.indices.contains(member) else { return }
    nodes[member].enqueue(handoff)
  }

  private nonisolated func enqueue(_ handoff: NodeHandoff) {
    let isFirst =
      switch handoff.mail {
      case .datagram: relayedDatagrams.append(handoff.mail) == .isFirst
      case .stream: handoffs.append(handoff) == .isFirst
      case .evict, .evicted: handoffs.append(handoff, isBounded: false) == .isFirst
      }
    if isFirst { loop.post { self.assumeIsolated { $0.receiveHandoffs() } } }
  }

  private func receiveHandoffs() {
    let now = loop.now
    updateWallClock()
    for mail in relayedDatagrams.removeAll() {
      guard case .datagram(let bytes, let route) = mail else { continue }
      lobby.host.receiveRelayed(bytes.span, from: route, at: now)
    }
    for handoff in handoffs.removeAll() {
      switch handoff.mail {
      case .datagram: break
      case .stream(_, let handed):
        if let stream = handoff.stream { receive(handed, stream) }
      case .evict(let connection, let other): lobby.host.evict(connection, for: other, at: now)
      case .evicted(let connection): lobby.host.grantSeat(to: connection, at: now)
      }
    }
    drain()
  }

  /// Takes over a stream from another node, or closes the stream if it cannot be taken over.
  private func receive(_ handed: HandedStream, _ detached: DetachedStream) {
    guard !isShutDown, sockets.closing.count < Host.connectionLimit else { return }
    do throws(TransportError) {
      let stream = try TCPStream(on: loop, attaching: detached)
      let connection = lobby.makeConnectionID()
      guard lobby.host.accept(handed, as: connection, at: loop.now) else { return stream.reset() }
      adopt(stream, as: connection)
    } catch { return }
  }

  var loopStatistics: LoopStatistics {
    let strangers = lobby.host.strangerStatistics
    return LoopStatistics(
      peers: peers.count, bytesSent: bytesSent, bytesReceived: bytesReceived,
      datagramsForwarded: group?.datagramsForwarded ?? 0,
      streamsForwarded: group?.streamsForwarded ?? 0, strangers: lobby.host.strangerCount,
      strangersDropped: strangers.dropped, strangersRefused: strangers.refused,
      handshakesPostponed: strangers.postponed, acceptingPauses: sockets.acceptingPauses,
      streamLimitExceeded: strangers.beyondStreamLimit,
      handshakeLimitExceeded: strangers.beyondHandshakeLimit,
      sourceLimitExceeded: strangers.beyondSourceLimit,
      connectionLimitExceeded: strangers.beyondConnectionLimit,
      linksWithToken: strangers.withToken)
  }
}
