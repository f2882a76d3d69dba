import CaromCore
import CaromProtocol
import CaromTransport

/// The scheduling and progress of a node's `drain()` calls.
struct LoopTurn {
  /// The timer that fires at the machine's next timeout.
  var timer: LoopTimer?
  /// The callback that drains the machine at the end of a loop's turn in which something was
  /// queued.
  var end: EndOfTurnCallback?
  var isDraining = false
  /// Whether what has been queued is certain to be sent in this turn: by another round of the
  /// current drain, or by the callback at the end of the turn.
  var isFlushDue = false
  /// The time of the last drain.
  var drainedAt = Instant.zero
  /// The number of bytes received on streams since the last drain.
  var undrainedBytes = 0
  /// Whether the timer has been rearmed once since it fired late. The loop reads the sockets before
  /// the timer fires again, so no timeout is handled before the received bytes are.
  var hasReadAfterStandstill = false
}

extension SessionNode {
  /// Polls the protocol machine until it has no more events and no more output, and writes the
  /// output to the sockets. No other method writes to sockets. Called after each change to the
  /// machine's state.
  func drain() {
    guard !turn.isDraining else {
      turn.isFlushDue = true
      return
    }
    turn.isDraining = true
    turn.undrainedBytes = 0
    repeat {
      turn.isFlushDue = false
      emitEvents()
      if group != nil { exchangeWithGroup() }
      turn.drainedAt = loop.now
      transmit(at: turn.drainedAt)
      updateChannels()
      if lobby.hasEventsOrRequests { turn.isFlushDue = true }
    } while turn.isFlushDue
    for socket in sockets.datagrams { socket.flush() }
    turn.isDraining = false
    if !sockets.stalled.isEmpty {
      for connection in sockets.stalled { lobby.host.markReadyIfNeeded(connection) }
      sockets.stalled.removeAll(keepingCapacity: true)
    }
    rearm()
    resumeIfIdle()
  }

  private func transmit(at now: Instant) {
    if let simulation {
      transmit(through: simulation, at: now)
      return
    }
    let channels = sockets.channels
    while let connection = Self.transmit(
      &lobby, on: sockets.datagrams, channels, &bytesSent, at: now)
    {
      if let stream = sockets.streams[connection], !flush(stream, of: connection, at: now) {
        sockets.stalled.append(connection)
      }
      Self.transmitDatagrams(
        of: connection, &lobby, on: sockets.datagrams, channels, &bytesSent, at: now)
    }
  }

  /// Transmits the output of all connections through simulated links. No connection has a stream
  /// while conditions are simulated.
  private func transmit(through simulation: SimulatedConditions, at now: Instant) {
    while let answer = lobby.host.pollStatelessReply() {
      simulation.pass(answer.bytes.span, on: answer.route, isOutgoing: true, at: now)
    }
    while let connection = lobby.host.pollReady() {
      while let route = lobby.host.pollDatagram(on: connection, at: now) {
        simulation.pass(lobby.host.datagram, on: route, isOutgoing: true, at: now)
      }
      lobby.didFlush(connection, at: now)
    }
    rearm(simulation)
  }

  /// Transmits the output of all connections up to the first one that may have output for a stream.
  /// Returns that connection, or nil if no connection has output left. The machine is accessed only
  /// once for all of these connections.
  private static func transmit(
    _ lobby: inout Lobby, on sockets: [UDPSocket], _ channels: DataChannels?,
    _ count: inout UInt64, at now: Instant
  ) -> ConnectionID? {
    while let answer = lobby.host.pollStatelessReply() {
      count += send(answer.bytes.span, to: answer.route, on: sockets, channels, at: now)
    }
    // Most nodes have one socket. So it is neither looked up nor retained for each datagram.
    let first = sockets.first
    var connection: ConnectionID?
    repeat {
      connection = lobby.host.transmitDatagrams(at: now) { datagram, route in
        if route.socket == 0, let first {
          first.send(datagram, to: route.endpoint)
          count += UInt64(datagram.count)
        } else {
          count += send(datagram, to: route, on: sockets, channels, at: now)
        }
      }
    } while lobby.didTransmitDatagrams(at: now) && connection == nil
    return connection
  }

  private static func transmitDatagrams(
    of connection: ConnectionID, _ lobby: inout Lobby, on sockets: [UDPSocket],
    _ channels: DataChannels?, _ count: inout UInt64, at now: Instant
  ) {
    while let route = lobby.host.pollDatagram(on: connection, at: now) {
      count += send(lobby.host.datagram, to: route, on: sockets, channels, at: now)
    }
    lobby.didFlush(connection, at: now)
  }

  /// Sends a datagram and returns the number of bytes sent.
  private static func send(
    _ datagram: Span<UInt8>, to route: Route, on sockets: [UDPSocket], _ channels: DataChannels?,
    at now: Instant
  ) -> UInt64 {
    if route.isDataChannel {
      channels?.send(datagram, to: route, at: now) { sockets.transmit($0, to: $1, on: $2) }
      return UInt64(datagram.count)
    }
    guard sockets.indices.contains(route.socket) else { return 0 }
    sockets[route.socket].send(datagram, to: route.endpoint)
    return UInt64(datagram.count)
  }

  /// Writes a connection's output to its stream. Returns false if the stream has no room for all of
  /// the output.
  private func flush(
    _ stream: TCPStream, of connection: ConnectionID, at now: Instant
  ) -> Bool {
    var hasWritten = true
    var isBroken = false
    while hasWritten {
      hasWritten = lobby.host.pollTransmit(on: connection, queued: stream.queuedBytes, at: now) {
        bytes in
        do throws(TransportError) {
          try stream.write(bytes)
          bytesSent += UInt64(bytes.count)
        } catch { isBroken = true }
      }
      if isBroken {
        sockets.streams[connection] = nil
        lobby.handleLinkEnd(.reset, of: connection, at: now)
        dispose(of: stream, abruptly: true)
        return true
      }
      // Usually nothing is left, which is cheaper to ask than to poll again.
      if !lobby.hasStreamOutput(connection) { return true }
    }
    guard let action = lobby.host.pollLinkAction(on: connection) else { return false }
    sockets.streams[connection] = nil
    dispose(of: stream, abruptly: action == .cut)
    return true
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

  /// The delay beyond which a late timer shows that the process was suspended or starved, so that
  /// received bytes may be waiting in the sockets.
  private static let standstill = Duration.milliseconds(250)

  private func handleTimeout(at now: Instant) {
    if !turn.hasReadAfterStandstill, let due = lobby.findTimeout(), now - due > Self.standstill {
      // Read the sockets before declaring a peer timed out. The loop does so before this timer
      // fires again.
      turn.hasReadAfterStandstill = true
      turn.timer?.arm(at: now)
      return
    }
    turn.hasReadAfterStandstill = false
    lobby.handleTimeout(at: now)
    if !waiters.sends.isEmpty { expireSends(at: now) }
    emitStoppedInputs(at: now)
    drain()
  }

  /// Whether no output is left to be sent and no stream is left to be closed.
  var isIdle: Bool {
    sockets.streams.isEmpty && sockets.closing.isEmpty && lobby.host.isIdle
      && (simulation?.outgoing ?? 0) == 0
  }

  func resumeIfIdle() {
    if !waiters.idle.isEmpty, isIdle { waiters.resumeIdle() }
  }
}
