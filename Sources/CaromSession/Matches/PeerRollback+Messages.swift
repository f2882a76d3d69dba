import CaromCore
import CaromProtocol
import CaromSimulation

// The messages of a match without a server, which the session's host passes on.
extension PeerRollback {
  /// Processes the events and messages that have arrived, and counts the ticks that are due.
  public func receive(at now: Instant? = nil) {
    guard endReason == nil else { return }
    let now = now ?? session.loop.now
    // The events come first: the messages before a goodbye are then all there.
    while let event = watch.next() { handle(event, at: now) }
    if watch.hasEnded { endReason = endReason ?? .closedLocally }
    for channel in [channels.control, channels.inputs] {
      for received in session.takeMessages(on: channel) {
        receive(received.message, from: received.peer, at: now)
      }
    }
    takeReports()
    if let endReason {
      due = 0
      while let behind = spectator?.ticksBehind, behind > 0, spectator?.advance() == .stepped {}
      return notices.append(.ended(endReason))
    }
    due += match?.takeDueTicks(at: now) ?? spectator?.takeDueTicks(at: now) ?? 0
    // The clock of a spectator runs before the first state has arrived.
    if state == nil { due = 0 }
    send()
  }

  // MARK: Peers

  private func handle(_ event: PeerEvent, at now: Instant) {
    switch (role, event) {
    case (.host, .joined(let peer)) where peer.isSpectator:
      if let match { gallery.add(peer, of: match.rollback) } else { audience.append(peer) }
    case (.host(let game), .joined(let peer)):
      guard match == nil, !members.contains(peer) else { return }
      members.append(peer)
      if members.count == configuration.players - 1 { begin(game, at: now) }
    case (.host, .left(let peer, let reason)): remove(peer, reason)
    case (.client(let host), .left(let peer, let reason)) where peer == host:
      endReason = endReason ?? reason
    case (.host, .missed):
      let connected = watch.connected
      for case let member? in members where !connected.contains(member.connectionID) {
        remove(member, .connectionLost)
      }
      gallery.retain(connected)
      audience.removeAll { !connected.contains($0.connectionID) }
      watch.begin()
    case (.client, .missed): watch.begin()
    default: break
    }
  }

  private func remove(_ peer: Peer, _ reason: DisconnectReason) {
    gallery.remove(peer)
    audience.removeAll { $0 == peer }
    guard let index = members.firstIndex(of: peer) else { return }
    guard match != nil else {
      members.remove(at: index)
      return
    }
    members[index] = nil
    match?.disconnect(player: index + 1)
    notices.append(.left(player: index + 1, reason))
  }

  /// Sends every other player its number and the initial state, and begins the match.
  private func begin(_ game: Game, at now: Instant) {
    let start = RollbackKeyframe(
      tick: configuration.start, players: configuration.players, game: game)
    for (index, member) in members.enumerated() {
      guard let member else { continue }
      let seat = RollbackSeat(player: index + 1, rate: configuration.rate)
      for packet in [RollbackPacket(.seat, seat.encoded), .init(.keyframe, start.encoded)] {
        channels.post(RelayedPacket(0, packet), to: member)
      }
    }
    begin(with: start, at: now)
    guard let match else { return }
    for peer in audience { gallery.add(peer, of: match.rollback) }
    audience = []
  }

  private func begin(with start: RollbackKeyframe<Game>, at now: Instant) {
    var match = RollbackSession(start.game, configuration, at: now)
    match.adaptsInputDelay = true
    self.match = match
    notices.append(.began(player: configuration.local))
  }

  // MARK: Receiving

  private func receive(_ relayed: RelayedPacket, from peer: Peer, at now: Instant) {
    switch role {
    case .host:
      if gallery.contains(peer) { return deliver(relayed, fromSpectator: peer) }
      guard let index = members.firstIndex(of: peer) else { return }
      let sender = index + 1
      guard relayed.player > 0 else { return deliver(relayed.packet, from: sender, at: now) }
      guard relayed.player <= members.count, relayed.player != sender else {
        return peer.disconnect(Goodbye(.protocolViolation), as: .protocolViolation)
      }
      if let receiver = members[relayed.player - 1] {
        channels.post(RelayedPacket(sender, relayed.packet), to: receiver)
      }
    case .client(let host):
      guard peer == host, endReason != .protocolViolation else { return }
      if spectator != nil {
        deliver(relayed.packet, toSpectatorOf: host, at: now)
      } else if match == nil {
        prepare(relayed.packet, from: host, at: now)
      } else if relayed.player != configuration.local, relayed.player < configuration.players {
        deliver(relayed.packet, from: relayed.player, at: now)
      } else {
        leave(host)
      }
    }
  }

  /// Processes a message that arrives from the host before the match has begun on this client.
  /// Inputs of other players may arrive before the host's keyframe, and are ignored.
  private func prepare(_ packet: RollbackPacket, from host: Peer, at now: Instant) {
    do throws(DecodeError) {
      switch packet.message {
      case .seat:
        let seat = try RollbackSeat(decoding: packet.bytes.span)
        self.seat = seat
        guard seat.player == nil else { return }
        spectator = RollbackClient(player: nil, rate: seat.rate, at: now)
      case .keyframe:
        let start = try RollbackKeyframe<Game>(decoding: packet.bytes.span)
        guard let player = seat?.player, player > 0, player < start.players, let rate = seat?.rate
        else { throw .invalid(what: "seat") }
        configuration = RollbackConfiguration(
          players: start.players, local: player, rate: rate, window: configuration.window,
          inputDelay: configuration.inputDelay)
        configuration.start = start.tick
        // The host has begun half a round trip ago.
        let age = min(max(meter?.roundTrip ?? .zero, .zero), .milliseconds(500)) / 2
        begin(with: start, at: now.advanced(byNanoseconds: -age.wholeNanoseconds))
      case .inputs, .stateReport, .disconnect: break
      }
    } catch { leave(host) }
  }

  /// Passes a message of a spectator to the gallery.
  private func deliver(_ relayed: RelayedPacket, fromSpectator peer: Peer) {
    do throws(DecodeError) {
      guard relayed.player == 0 else { throw .invalid(what: "player") }
      try gallery.receive(relayed.packet, from: peer)
    } catch {
      peer.disconnect(Goodbye(.protocolViolation), as: .protocolViolation)
    }
  }

  /// Passes a message of the host to this side's view.
  private func deliver(_ packet: RollbackPacket, toSpectatorOf host: Peer, at now: Instant) {
    let hadState = spectator?.rollback != nil
    do throws(DecodeError) {
      try spectator?.receive(packet.message, packet.bytes.span, at: now)
    } catch { return leave(host) }
    if !hadState, spectator?.rollback != nil { notices.append(.began(player: nil)) }
  }

  /// Passes a message to the match. A player who violates the protocol is disconnected.
  private func deliver(_ packet: RollbackPacket, from player: Int, at now: Instant) {
    do throws(DecodeError) {
      try match?.receive(packet, from: player, at: now)
    } catch {
      switch role {
      case .host:
        members[player - 1]?.disconnect(Goodbye(.protocolViolation), as: .protocolViolation)
      case .client(let host):
        if player == 0 { leave(host) } else { match?.disconnect(player: player) }
      }
    }
  }

  private func leave(_ host: Peer) {
    endReason = endReason ?? .protocolViolation
    host.disconnect(Goodbye(.protocolViolation), as: .protocolViolation)
  }

  // MARK: Sending

  func send() {
    sendToSpectators()
    while case .client(let host) = role, spectator != nil {
      writer.removeAll()
      guard let message = spectator?.pollTransmit(into: &writer) else { return }
      channels.post(RelayedPacket(0, RollbackPacket(message, writer.bytes)), to: host)
    }
    while true {
      writer.removeAll()
      guard let transmit = match?.pollTransmit(into: &writer) else { return }
      let packet = RollbackPacket(transmit.message, writer.bytes)
      switch role {
      case .host:
        guard let member = members[transmit.player - 1] else { continue }
        channels.post(RelayedPacket(0, packet), to: member)
      case .client(let host):
        channels.post(RelayedPacket(transmit.player, packet), to: host)
      }
    }
  }
  private func sendToSpectators() {
    while true {
      writer.removeAll()
      guard
        let (peer, message) = gallery.pollTransmit(rate: configuration.rate, into: &writer)
      else { return }
      channels.post(RelayedPacket(0, RollbackPacket(message, writer.bytes)), to: peer)
    }
  }
}
