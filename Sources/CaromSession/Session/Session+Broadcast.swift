import CaromCore
import CaromProtocol

// Sending to many peers.
extension Session {
  /// Sends a message to all peers, or to `peers`, after waiting until each send queue has room.
  ///
  /// Each peer gets the message as soon as its own queue has room, whether or not other queues are
  /// full. The call returns when the message is queued for every peer, and thus at the pace of the
  /// slowest one. A peer that reads nothing is disconnected after `SessionTiming.fullQueueLimit`,
  /// and the call no longer waits for it. Use `tryBroadcast` where nothing may wait.
  ///
  /// Returns the peers that did not get the message because they had disconnected (`notConnected`),
  /// or because `lifetime` passed before there was room (`expired`). Throws `tooLarge` if the
  /// message is too long, and `notEncodable` if its type cannot encode it. Throws `cancelled` if
  /// the task is cancelled, and `queueFull` if too many tasks wait for room; some peers may then
  /// have got the message.
  @discardableResult
  public func broadcast<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to peers: [Peer]? = nil,
    lifetime: Duration? = nil
  ) async throws(SendError) -> [Peer: SendError] {
    if Task.isCancelled { throw .cancelled }
    let failures = await onEachHub(of: peers) { hub, targets in
      await hub.broadcast(message, on: channel, to: targets, lifetime: lifetime)
    }
    if let error = failures.values.first(where: \.endsBroadcast) { throw error }
    return failures
  }

  /// Sends a message to all peers, or to `peers`, without waiting. Returns the peers to which the
  /// message could not be sent, each with the reason, such as `queueFull` if the peer's send queue
  /// has no room.
  public func tryBroadcast<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to peers: [Peer]? = nil,
    lifetime: Duration? = nil
  ) async -> [Peer: SendError] {
    await onEachHub(of: peers) { hub, targets in
      await hub.tryBroadcast(message, on: channel, to: targets, lifetime: lifetime)
    }
  }

  /// Queues a message to all peers from any thread, without waiting and without reporting whether
  /// the message arrives. For each peer, a reliable message waits until the send queue has room.
  ///
  /// Returns false if the message is not accepted for every peer: because it is too long or
  /// cannot be encoded, because too many messages are queued for a loop, or because too many posted
  /// messages wait for room in the send queue to a peer.
  public func post<Message>(
    _ message: Message, on channel: MessageChannel<Message>, lifetime: Duration? = nil
  ) -> Bool {
    hubs.reduce(true) { isAccepted, hub in
      hub.node.postToAll(message, on: channel, lifetime: lifetime) && isAccepted
    }
  }

  /// Runs `send` with each hub and with those of `peers` that are on its loop, and returns all
  /// failures.
  private func onEachHub(
    of peers: [Peer]?,
    _ send: @escaping @Sendable (SessionHub, [Peer]?) async -> [Peer: SendError]
  ) async -> [Peer: SendError] {
    await withTaskGroup { tasks in
      for hub in hubs {
        let targets = peers?.filter { $0.hub === hub }
        if targets?.isEmpty == true { continue }
        tasks.addTask { await send(hub, targets) }
      }
      return await tasks.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }
  }
}

extension SendError {
  /// Whether `broadcast` throws the error rather than returning it.
  fileprivate var endsBroadcast: Bool {
    switch self {
    case .notConnected, .expired: false
    case .tooLarge, .queueFull, .cancelled, .notEncodable: true
    }
  }
}

extension SessionHub {
  /// Sends a message to all peers of this loop or, if `targets` is not nil, to those peers, which
  /// must be on this loop. Returns the peers to which the message could not be sent, with the
  /// reasons.
  func tryBroadcast<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to targets: [Peer]?,
    lifetime: Duration?
  ) -> [Peer: SendError] {
    let targets = targets ?? allPeers
    let connections = targets.map(\.connectionID)
    let failures = node.assumeIsolated {
      $0.broadcast(message, on: channel, to: connections, lifetime: lifetime)
    }
    guard !failures.isEmpty else { return [:] }
    return targets.reduce(into: [:]) { $0[$1] = failures[$1.connectionID] }
  }

  /// Sends a message like `tryBroadcast`, and then waits for room in the queues that are full.
  func broadcast<Message>(
    _ message: Message, on channel: MessageChannel<Message>, to targets: [Peer]?,
    lifetime: Duration?
  ) async -> [Peer: SendError] {
    let options = channel.options(lifetime: lifetime, at: loop.now)
    var ready = targets ?? allPeers
    // The message must not overtake those that wait for room already.
    let full = peersWithWaitingSends(of: ready)
    if !full.isEmpty { ready.removeAll { full.contains($0) } }
    var failures = tryBroadcast(message, on: channel, to: ready, lifetime: lifetime)
    let waiting = full + ready.filter { failures[$0]?.isQueueFull == true }
    guard !waiting.isEmpty else { return failures }
    guard let bytes = try? channel.encoded(message) else { return failures }
    await withTaskGroup { tasks in
      for peer in waiting {
        tasks.addTask { (peer, await self.send(bytes, on: channel.id, options, to: peer)) }
      }
      for await (peer, failure) in tasks { failures[peer] = failure }
    }
    return failures
  }

  private func peersWithWaitingSends(of peers: [Peer]) -> [Peer] {
    node.assumeIsolated { node in
      let sends = node.waiters.sends
      return sends.isEmpty ? [] : peers.filter { sends[$0.connectionID] != nil }
    }
  }

  /// Sends a message once there is room. Returns the reason if it cannot be sent.
  private func send(
    _ bytes: [UInt8], on channel: UInt8, _ options: SendOptions, to peer: Peer
  ) async -> SendError? {
    do throws(SendError) {
      _ = try await node.send(bytes, on: channel, options, to: peer.connectionID)
      return nil
    } catch { return error }
  }
}

extension SendError {
  fileprivate var isQueueFull: Bool { if case .queueFull = self { true } else { false } }
}
