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
        receive(received.message, from: received.peer, on: channel.id, at: now)
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
    case (.host, .joined(let peer)) where match != nil: seat(peer)
    case (.host, .joined(let peer)) where peer.isSpectator: audience.append(peer)
    case (.host(let game), .joined(let peer)):
      guard !members.contains(peer) else { return }
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
    returning.removeAll { $0.peer == peer }
    match?.disconnect(player: index + 1)
    notices.append(.left(player: index + 1, reason))
  }

  /// Lets a peer take part in the running match: as a player who has left, if there is one, or as
  /// a spectator. Disconnects the peer, with the reason `full`, if the match has no room for
  /// another spectator.
  private func seat(_ peer: Peer) {
    guard let match, !members.contains(peer) else { return }
    if !peer.isSpectator, let index = freePlace(for: peer) {
      members[index] = peer
      lastPeers[index] = peer.id
      returning.append(ReturningPeer(peer: peer, player: index + 1))
      return
    }
    if !gallery.add(peer, of: match.rollback) { peer.disconnect(Goodbye(.full), as: .full) }
  }

  /// Returns the index in `members` of a player without a peer, preferably of the one whom the peer
  /// played before; nil if there is none.
  private func freePlace(for peer: Peer) -> Int? {
    let free = members.indices.filter { members[$0] == nil }
    return free.first { lastPeers[$0] == peer.id } ?? free.first
  }

  /// Continues the returns in progress. As soon as the tick of a return is confirmed, the peer gets
  /// its player's number and the state of that tick.
  private func continueReturns() {
    for index in returning.indices where returning[index].tick == nil {
      returning[index].tick = match?.reconnect(player: returning[index].player)
    }
    returning.removeAll { entry in
      guard let match, let tick = entry.tick, match.rollback.confirmedTick >= tick,
        let game = match.rollback.state(at: tick)
      else { return false }
      let seat = RollbackSeat(player: entry.player, rate: configuration.rate)
      let message = match.returnMessage(of: entry.player, at: tick)
      let start = RollbackKeyframe(tick: tick, players: configuration.players, game: game)
      let packets: [RollbackPacket] = [
        .init(.seat, seat.encoded), .init(.reconnect, message.encoded),
        .init(.keyframe, start.encoded),
      ]
      for packet in packets { channels.post(RelayedPacket(0, packet), to: entry.peer) }
      notices.append(.returned(player: entry.player))
      return true
    }
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
    lastPeers = members.map { $0?.id ?? session.node.local.id }
    for peer in audience { seat(peer) }
    audience = []
  }

  private func begin(with start: RollbackKeyframe<Game>, at now: Instant) {
    var match =
      if let ownReturn {
        RollbackSession(start.game, configuration, returning: ownReturn, at: now)
      } else {
        RollbackSession(start.game, configuration, at: now)
      }
    match.adaptsInputDelay = true
    self.match = match
    notices.append(.began(player: configuration.local))
  }

  // MARK: Receiving

  private func receive(
    _ relayed: RelayedPacket, from peer: Peer, on channel: UInt8, at now: Instant
  ) {
    switch role {
    case .host:
      // Inputs have a channel of their own.
      guard (relayed.packet.message == .inputs) == (channel == channels.inputs.id) else {
        return peer.reject(channel)
      }
      if gallery.contains(peer) { return deliver(relayed, fromSpectator: peer, on: channel) }
      guard let index = members.firstIndex(of: peer) else { return }
      let sender = index + 1
      guard relayed.player > 0 else {
        return deliver(relayed.packet, from: sender, on: channel, at: now)
      }
      guard relayed.player <= members.count, relayed.player != sender else {
        return peer.reject(channel)
      }
      if let receiver = members[relayed.player - 1] {
        channels.post(RelayedPacket(sender, relayed.packet), to: receiver)
      }
    case .client(let host):
      guard peer == host, endReason != .protocolViolation else { return }
      if spectator != nil {
        deliver(relayed.packet, toSpectatorOf: host, on: channel, at: now)
      } else if match == nil {
        prepare(relayed.packet, from: host, on: channel, at: now)
      } else if relayed.player != configuration.local, relayed.player < configuration.players {
        deliver(relayed.packet, from: relayed.player, on: channel, at: now)
      } else {
        leave(host, channel)
      }
    }
  }

  /// Processes a message that arrives from the host before the match has begun on this client.
  /// Inputs of other players may arrive before the host's keyframe, and are ignored.
  private func prepare(
    _ packet: RollbackPacket, from host: Peer, on channel: UInt8, at now: Instant
  ) {
    do throws(DecodeError) {
      switch packet.message {
      case .seat:
        let seat = try RollbackSeat(decoding: packet.bytes.span)
        self.seat = seat
        guard seat.player == nil else { return }
        spectator = RollbackClient(player: nil, rate: seat.rate, at: now)
      case .keyframe:
        let start = try RollbackKeyframe<Game>(decoding: packet.bytes.span)
        guard let player = seat?.player, player > 0, player < start.players, let rate = seat?.rate,
          ownReturn.map({ $0.tick == start.tick }) ?? true
        else { throw .invalid(what: "seat") }
        configuration = RollbackConfiguration(
          players: start.players, local: player, rate: rate, window: configuration.window,
          inputDelay: configuration.inputDelay)
        configuration.start = start.tick
        // The host has sent the state half a round trip ago. It was past its tick already if this
        // player returns.
        let onTheWay = min(max(meter?.roundTrip ?? .zero, .zero), .milliseconds(500)) / 2
        let age = onTheWay + .seconds(ownReturn?.ahead ?? 0) / rate
        begin(with: start, at: now.advanced(byNanoseconds: -age.wholeNanoseconds))
      case .reconnect:
        let message = try PlayerReturn(decoding: packet.bytes.span)
        if !message.isAnswer, message.player == seat?.player { ownReturn = message }
      case .inputs, .stateReport, .disconnect: break
      }
    } catch { leave(host, channel) }
  }

  /// Passes a message of a spectator to the gallery.
  private func deliver(
    _ relayed: RelayedPacket, fromSpectator peer: Peer, on channel: UInt8
  ) {
    do throws(DecodeError) {
      guard relayed.player == 0 else { throw .invalid(what: "player") }
      try gallery.receive(relayed.packet, from: peer)
    } catch { peer.reject(channel) }
  }

  /// Passes a message of the host to this side's view.
  private func deliver(
    _ packet: RollbackPacket, toSpectatorOf host: Peer, on channel: UInt8, at now: Instant
  ) {
    let hadState = spectator?.rollback != nil
    do throws(DecodeError) {
      try spectator?.receive(packet.message, packet.bytes.span, at: now)
    } catch { return leave(host, channel) }
    if !hadState, spectator?.rollback != nil { notices.append(.began(player: nil)) }
  }

  /// Passes a message to the match. A player who violates the protocol is disconnected.
  private func deliver(
    _ packet: RollbackPacket, from player: Int, on channel: UInt8, at now: Instant
  ) {
    do throws(DecodeError) {
      try match?.receive(packet, from: player, at: now)
    } catch {
      switch role {
      case .host: members[player - 1]?.reject(channel)
      case .client(let host):
        if player == 0 { leave(host, channel) } else { match?.disconnect(player: player) }
      }
    }
  }

  private func leave(_ host: Peer, _ channel: UInt8) {
    endReason = endReason ?? .protocolViolation
    host.reject(channel)
  }

  // MARK: Sending

  func send() {
    continueReturns()
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
