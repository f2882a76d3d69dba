import CaromCore
import CaromProtocol
import CaromTransport

/// The state of a node's draining: when it polls its protocol machine next.
struct LoopTurn {
  /// Fires at the machine's next timeout.
  var timer: LoopTimer?
  /// Fires at the end of the loop's turn if something was queued.
  var end: EndOfTurnCallback?
  var isDraining = false
  /// Whether something was queued during the current drain.
  var needsAnotherRound = false
  /// The time of the last drain.
  var drainedAt = Instant.zero
  /// Whether the sockets have been read since the timer fired late.
  var hasReadAfterStandstill = false
}

extension SessionNode {
  /// Polls the protocol machine until it has no more events and no more output. Everything that is
  /// written to sockets is written here. Called after each change of the machine.
  func drain() {
    guard !turn.isDraining else {
      turn.needsAnotherRound = true
      return
    }
    turn.isDraining = true
    repeat {
      turn.needsAnotherRound = false
      emitEvents()
      if group != nil { exchangeWithGroup() }
      turn.drainedAt = loop.now
      transmit(at: turn.drainedAt)
      if lobby.hasEvents || lobby.hasDirectoryRequests { turn.needsAnotherRound = true }
    } while turn.needsAnotherRound
    for socket in sockets.datagrams { socket.flush() }
    turn.isDraining = false
    if !sockets.stalled.isEmpty {
      for connection in sockets.stalled { lobby.markReadyIfNeeded(connection) }
      sockets.stalled.removeAll(keepingCapacity: true)
    }
    rearm()
    resumeIfIdle()
  }

  private func transmit(at now: Instant) {
    while let answer = lobby.pollStatelessReply() { send(answer.bytes, to: answer.route) }
    while let connection = lobby.pollReady() {
      let stream = sockets.streams.isEmpty ? nil : sockets.streams[connection]
      if let stream { flush(stream, of: connection, at: now) }
      while true {
        outgoing.removeAll(keepingCapacity: true)
        guard let route = lobby.pollDatagram(on: connection, into: &outgoing, at: now) else {
          break
        }
        send(outgoing, to: route)
      }
      lobby.didFlush(connection, at: now)
      if stream != nil, sockets.streams[connection] != nil, lobby.hasStreamOutput(connection) {
        sockets.stalled.append(connection)
      }
    }
  }

  private func send(_ datagram: [UInt8], to route: Route) {
    guard sockets.datagrams.indices.contains(route.socket) else { return }
    sockets.datagrams[route.socket].send(datagram.span, to: route.endpoint)
    bytesSent += UInt64(datagram.count)
  }

  private func flush(_ stream: TCPStream, of connection: ConnectionID, at now: Instant) {
    while true {
      outgoing.removeAll(keepingCapacity: true)
      let queued = stream.queuedBytes
      guard lobby.pollTransmit(on: connection, queued: queued, into: &outgoing, at: now) else {
        break
      }
      do throws(TransportError) {
        try stream.write(outgoing.span)
        bytesSent += UInt64(outgoing.count)
      } catch {
        sockets.streams[connection] = nil
        lobby.handleLinkEnd(.reset, of: connection, at: now)
        return dispose(of: stream, abruptly: true)
      }
    }
    guard let action = lobby.pollLinkAction(on: connection) else { return }
    sockets.streams[connection] = nil
    dispose(of: stream, abruptly: action == .cut)
  }
}

// MARK: - Timeouts
extension SessionNode {
  func rearm() {
    var next = lobby.findTimeout()
    if !waiters.sends.isEmpty { next = earliest(next, waiters.nextTimeout) }
    if !inputs.channels.isEmpty { next = earliest(next, inputs.nextTimeout) }
    guard let next, !isShutDown || !lobby.connectionIDs.isEmpty else {
      turn.timer?.cancel()
      return
    }
    if turn.timer == nil {
      turn.timer = LoopTimer(on: loop, owner: self) { node in
        node.handleTimeout(at: node.loop.now)
      }
    }
    if turn.timer?.deadline != next { turn.timer?.arm(at: next) }
  }

  /// A timer that fires later than this means that the process was suspended or starved, and that
  /// received bytes may wait in the sockets.
  private static let standstill = Duration.milliseconds(250)

  private func handleTimeout(at now: Instant) {
    if !turn.hasReadAfterStandstill, let due = lobby.nextTimeout, now - due > Self.standstill {
      // Read the sockets before declaring a peer timed out: the loop does so before this timer
      // fires again.
      turn.hasReadAfterStandstill = true
      turn.timer?.arm(at: now)
      return
    }
    turn.hasReadAfterStandstill = false
    lobby.handleTimeout(at: now)
    if !waiters.sends.isEmpty { waiters.expireSends(at: now) }
    emitStoppedInputs(at: now)
    drain()
  }

  /// Whether nothing is left to be sent or closed.
  var isIdle: Bool {
    sockets.streams.isEmpty && sockets.closing.isEmpty && lobby.host.isIdle
  }

  func resumeIfIdle() {
    if !waiters.idle.isEmpty, isIdle { waiters.resumeIdle() }
  }
}
