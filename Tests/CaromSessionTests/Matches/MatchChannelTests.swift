import CaromCore
import CaromProtocol
import CaromTransport
import Testing

@testable import CaromSession

/// What matches do with the channels and events of their session.
@Suite(.timeLimit(.minutes(1))) struct MatchChannelTests {
  @Test func `inputs on the channel of what must arrive violate the protocol`() async throws {
    try await withPair { pair in
      let server = RollbackServer(Tally(), players: 2, at: pair.loop.now)
      let match = HostedRollback(server, over: pair.hosting)
      try await pair.host.send(RollbackPacket(.inputs, []), on: match.channels.control)
      var event: PeerEvent?
      var reason: DisconnectReason?
      while reason == nil {
        match.update()
        while let next = pair.hosting.poll() {
          if case .malformed = next { event = next }
          if case .left(_, let why) = next { reason = why }
        }
        try await nextFrame()
      }
      #expect(reason == .protocolViolation)
      #expect(event == .malformed(pair.client, channel: match.channels.control.id))
    }
  }

  @Test func `a match that has gone leaves nothing behind in its session`() async throws {
    try await withPair { pair in
      let inboxes = pair.hosting.inboxes
      _ = HostedRollback(
        RollbackServer(Tally(), players: 2, at: pair.loop.now), over: pair.hosting)
      let count = inboxes.finisherCount
      for _ in 0..<20 {
        _ = HostedRollback(
          RollbackServer(Tally(), players: 2, at: pair.loop.now), over: pair.hosting)
      }
      #expect(inboxes.finisherCount == count)
    }
  }

  /// Plays until both sides have seen the end of the match, without a word to the other side.
  private func play(
    _ host: HostedRollback<Tally>, _ client: JoinedRollback<Tally>
  ) async throws -> [Int] {
    var finished: [Int] = []
    while finished.count < 2 {
      host.update()
      client.update { match in Tally.Points(match.player == 0 ? 9 : 0) }
      if host.peers.isEmpty { host.server.setInput(Tally.Points(0), for: 1) }
      while let event = client.pollEvent() {
        if case .confirmed(.finished(let player), _) = event { finished.append(player) }
      }
      if client.player != nil { host.server.setInput(Tally.Points(5), for: 1) }
      try await nextFrame()
    }
    return finished
  }

  @Test func `matches follow each other over one session, on two pairs of channels in turn`()
    async throws
  {
    try await withPair { pair in
      for number in 0..<4 {
        let channels = RollbackChannels(
          inputs: number % 2 == 0 ? 62 : 60, control: number % 2 == 0 ? 63 : 61)
        let host = HostedRollback(
          RollbackServer(Tally(), players: 2, rate: 240, at: pair.loop.now), over: pair.hosting,
          channels: channels, remotePlayers: [0])
        let client = JoinedRollback<Tally>(pair.host, over: pair.visiting, channels: channels)
        let finished = try await play(host, client)
        #expect(Set(finished) == [0, 1])
        // What the match still sends waits for the next match on these channels.
        host.finish()
        client.update()
        #expect(client.endReason == nil)
        var state = PacketWriter()
        state.write(UInt32(7))
        _ = pair.client.post(RollbackPacket(.keyframe, state.bytes), on: channels.control)
        _ = pair.client.post(EncodedMessage([1, 2, 3]), on: channels.inputs)
        _ = pair.host.post(RollbackPacket(.keyframe, []), on: channels.control)
        _ = pair.host.post(EncodedMessage([1, 2, 3]), on: channels.inputs)
        // These arrive: the same connection's messages on another channel are there after them.
        let marks = MessageChannel<UInt32>(1, .reliableOrdered)
        _ = pair.client.post(UInt32(number), on: marks)
        _ = pair.host.post(UInt32(number), on: marks)
        #expect(await pair.visiting.messages(on: marks).first(1) == [UInt32(number)])
        #expect(await pair.hosting.messages(on: marks).first(1) == [UInt32(number)])
      }
      var events: [PeerEvent] = []
      while let event = pair.hosting.poll() { events.append(event) }
      #expect(!events.contains { if case .left = $0 { true } else { false } })
    }
  }

  @Test func `a spectator for whom a match has no room is told`() async throws {
    try await withPair(seats: 1, spectatorSeats: 1) { pair in
      let match = PeerRollback(hosting: Tally(), players: 2, over: pair.hosting)
      match.gallery.limit = 0
      while match.match == nil {
        match.update()
        try await nextFrame()
      }
      let fan = makePeer("fan", isSpectator: true)
      try await Session.join(pair.endpoints, as: fan, loop: pair.loop) { session, _ in
        var reason: DisconnectReason?
        while reason == nil {
          match.update()
          if case .left(_, let why)? = session.poll() { reason = why }
          try await nextFrame()
        }
        #expect(reason == .full)
      }
    }
  }
}
