import CaromCore
import CaromProtocol
import CaromTransport

// What leaves.
extension SessionNode {
  /// The one place that talks to sockets: after each mutation, polls the machine to dry.
  func drain() {
    guard !isDraining else {
      needsAnotherRound = true
      return
    }
    isDraining = true
    repeat {
      needsAnotherRound = false
      tellEvents()
      if share != nil { consult() }
      lastTurn = loop.now
      flushReady(at: lastTurn)
      if lobby.hasEvents || lobby.hasDirectoryRequests { needsAnotherRound = true }
    } while needsAnotherRound
    for socket in sockets { socket.flush() }
    isDraining = false
    if !stalled.isEmpty {
      for link in stalled { lobby.markReadyIfNeeded(link) }
      stalled.removeAll(keepingCapacity: true)
    }
    rearm()
    settleIdle()
  }

  func flushReady(at now: Instant) {
    while let answer = lobby.pollStatelessReply() { send(answer.bytes, by: answer.route) }
    while let link = lobby.pollReady() {
      let stream = streams.isEmpty ? nil : streams[link]
      if let stream { flush(stream, of: link, at: now) }
      while true {
        outgoing.removeAll(keepingCapacity: true)
        guard let way = lobby.pollDatagram(on: link, into: &outgoing, at: now) else { break }
        send(outgoing, by: way)
      }
      lobby.didFlush(link, at: now)
      if stream != nil, streams[link] != nil, lobby.hasStreamOutput(link) { stalled.append(link) }
    }
  }

  func send(_ datagram: [UInt8], by way: Route) {
    guard sockets.indices.contains(way.socket) else { return }
    sockets[way.socket].send(datagram.span, to: way.endpoint)
    bytesSent += UInt64(datagram.count)
  }

  private func flush(_ stream: TCPStream, of link: ConnectionID, at now: Instant) {
    while true {
      outgoing.removeAll(keepingCapacity: true)
      let queued = stream.queuedBytes
      guard lobby.pollTransmit(on: link, queued: queued, into: &outgoing, at: now) else { break }
      do throws(TransportError) {
        try stream.write(outgoing.span)
        bytesSent += UInt64(outgoing.count)
      } catch {
        streams[link] = nil
        lobby.handleLinkEnd(.reset, of: link, at: now)
        return part(with: stream, abruptly: true)
      }
    }
    guard let action = lobby.pollLinkAction(on: link) else { return }
    streams[link] = nil
    part(with: stream, abruptly: action == .cut)
  }

  /// The machine has forgotten the link: the stream finishes by itself, or is cut.
  func part(with stream: TCPStream, abruptly: Bool) {
    let id = ObjectIdentifier(stream)
    leaving[id] = stream
    stream.setHandler(owner: self) { node, event in
      guard case .closed = event else { return }
      node.leaving[id] = nil
      node.settleIdle()
    }
    if abruptly { stream.reset() } else { stream.close() }
    if !stream.isOpen { leaving[id] = nil }
  }

  /// A stream turned out to be a link of a connection that there is already.
  func move(streamOf link: ConnectionID, to owner: ConnectionID) {
    guard let stream = streams.removeValue(forKey: link) else { return }
    if let old = streams.removeValue(forKey: owner) { part(with: old, abruptly: true) }
    adopt(stream, as: owner)
  }

  func reconnect(_ link: ConnectionID) {
    guard kinds.contains(.stream), connecting[link] == nil, let endpoints = destinations[link]
    else {
      return
    }
    connecting[link] = Task { await self.dial(link, to: endpoints, within: .seconds(5)) }
  }

  func forget(_ link: ConnectionID) {
    keys[link] = nil
    destinations[link] = nil
    failures[link] = nil
    connecting.removeValue(forKey: link)?.cancel()
  }

  func rearm() {
    var next = lobby.findTimeout()
    if !room.isEmpty { next = earliest(next, nextRoomTimeout) }
    if !inputs.channels.isEmpty { next = earliest(next, inputs.nextTimeout) }
    guard let next, !isShutDown || !lobby.connectionIDs.isEmpty else {
      timer?.cancel()
      return
    }
    if timer == nil {
      timer = LoopTimer(on: loop, owner: self) { node in node.handleTimeout(at: node.loop.now) }
    }
    if timer?.deadline != next { timer?.arm(at: next) }
  }

  /// A timer that is so late fires in a process that stood still, or slept: what its peers said
  /// meanwhile waits in the sockets.
  private static let standstill = Duration.milliseconds(250)

  private func handleTimeout(at now: Instant) {
    if !hasReadBehindStandstill, let due = lobby.nextTimeout, now - due > Self.standstill {
      // The sockets are read before the timer comes again, and nobody is called silent unheard.
      hasReadBehindStandstill = true
      timer?.arm(at: now)
      return
    }
    hasReadBehindStandstill = false
    lobby.handleTimeout(at: now)
    if !room.isEmpty { expireRoom(at: now) }
    tellStoppedInputs(at: now)
    drain()
  }

  /// Whether nothing is left to be said.
  var isIdle: Bool { streams.isEmpty && leaving.isEmpty && lobby.host.isIdle }

  func settleIdle() {
    guard !idleWaiters.isEmpty, isIdle else { return }
    let waiters = idleWaiters
    idleWaiters = []
    for waiter in waiters { waiter.resume() }
  }
}
