import CaromCore
import CaromProtocol
import CaromSimulation
import CaromTransport
import Testing

@testable import CaromSession

/// Several matches at the same time over one session and the same channels.
@Suite(.timeLimit(.minutes(1))) struct ConcurrentMatchesTests {
  private func makePlayer(_ name: String, match: UInt16, isSpectator: Bool = false) -> PeerInfo {
    var info = makePeer(name, isSpectator: isSpectator)
    info.match = match
    return info
  }

  /// Two matches of one player each, played by the same loop.
  private func makeMatches(_ hosted: HostedSession) -> (ConcurrentMatches, [HostedRollback<Tally>])
  {
    let matches = ConcurrentMatches(2, over: hosted.session) { peer in
      peer.info.match == 0 ? nil : Int(peer.info.match) - 1
    }
    let all = (0..<2).map { number in
      HostedRollback(
        RollbackServer(Tally(), players: 1, rate: 240, at: hosted.loop.now), of: matches,
        number: number)
    }
    return (matches, all)
  }

  /// What a match has told about its peers since the last call.
  private func takeNotices(_ match: HostedRollback<Tally>) -> [String] {
    var lines: [String] = []
    while let notice = match.pollNotice() {
      switch notice {
      case .joined(let peer, let player): lines.append("\(peer.name) joined as \(player ?? -1)")
      case .left(let peer, _, _): lines.append("\(peer.name) left")
      default: break
      }
    }
    return lines
  }

  @Test func `each match has its own peers, events and inputs`() async throws {
    try await withHostedSession(seats: 2, spectatorSeats: 1) { hosted in
      let (matches, all) = makeMatches(hosted)
      var notices: [[String]] = [[], []]
      try await hosted.join(makePlayer("one", match: 1)) { first, firstHost in
        try await hosted.join(makePlayer("two", match: 2)) { second, secondHost in
          let fan = makePlayer("fan", match: 2, isSpectator: true)
          try await hosted.join(fan) { third, thirdHost in
            let clients = [(first, firstHost), (second, secondHost), (third, thirdHost)].map {
              JoinedRollback<Tally>($0.1, over: $0.0)
            }
            // The sums of the two matches differ, so a spectator of the wrong one has a wrong sum.
            while all.contains(where: { $0.server.state.sums[0] < Tally.goal })
              || clients[2].state?.sums[0] ?? 0 < Tally.goal
            {
              for (number, match) in all.enumerated() {
                match.update()
                notices[number] += takeNotices(match)
              }
              clients[0].update { _ in Tally.Points(9) }
              clients[1].update { _ in Tally.Points(1) }
              clients[2].update()
              try await nextFrame()
            }
            #expect(all.map(\.server.state.sums[0]) == [108, 100])
            #expect(clients.map { $0.state?.sums[0] } == [108, 100, 100])
            #expect(clients.map(\.player) == [0, 0, nil])
            #expect(all.map { $0.peers.map(\.name) } == [["one"], ["two", "fan"]])
            #expect(all[1].peers.map(matches.match) == [1, 1])
          }
        }
      }
      while all.contains(where: { !$0.peers.isEmpty }) {
        for (number, match) in all.enumerated() {
          match.update()
          notices[number] += takeNotices(match)
        }
        try await nextFrame()
      }
      #expect(notices[0] == ["one joined as 0", "one left"])
      #expect(notices[1] == ["two joined as 0", "fan joined as -1", "fan left", "two left"])
    }
  }

  @Test func `messages on other channels are sorted as well`() async throws {
    try await withHostedSession(seats: 2) { hosted in
      let (matches, _) = makeMatches(hosted)
      let words = MessageChannel<UInt32>(3, .reliableOrdered)
      _ = matches.takeMessages(on: words, of: 0)
      try await hosted.join(makePlayer("one", match: 1)) { _, firstHost in
        try await hosted.join(makePlayer("two", match: 2)) { _, secondHost in
          _ = firstHost.post(UInt32(1), on: words)
          _ = secondHost.post(UInt32(2), on: words)
          var received: [[UInt32]] = [[], []]
          while received.contains(where: \.isEmpty) {
            for number in 0..<2 {
              received[number] += matches.takeMessages(on: words, of: number).map(\.message)
            }
            try await nextFrame()
          }
          #expect(received == [[1], [2]])
        }
      }
    }
  }

  @Test func `a peer in no match may not send what belongs to one`() async throws {
    try await withHostedSession(seats: 1) { hosted in
      let (_, all) = makeMatches(hosted)
      try await hosted.join(makePlayer("nobody", match: 0)) { session, host in
        _ = host.post(RollbackPacket(.keyframe, []), on: all[0].channels.control)
        var reason: DisconnectReason?
        while reason == nil {
          for match in all { match.update() }
          if case .left(_, let why)? = session.poll() { reason = why }
          try await nextFrame()
        }
        #expect(reason == .protocolViolation)
      }
      #expect(all.map(\.peers.count) == [0, 0])
    }
  }

  @Test func `the match of a peer is chosen once, also after many others have left`() async throws {
    try await withHostedSession(seats: 2) { hosted in
      let asked = Locked<[String]>([])
      let matches = ConcurrentMatches(2, over: hosted.session) { peer in
        asked.withLock { $0.append(peer.name) }
        return 1
      }
      let match = HostedRollback(
        RollbackServer(Tally(), players: 2, at: hosted.loop.now), of: matches, number: 1)
      try await hosted.join(makePlayer("stays", match: 2)) { _, _ in
        for number in 0..<24 {
          try await hosted.join(makePlayer("\(number)", match: 2)) { _, _ in
            while !match.peers.contains(where: { $0.name == "\(number)" }) {
              match.update()
              try await nextFrame()
            }
          }
          while match.peers.count > 1 {
            match.update()
            try await nextFrame()
          }
        }
        #expect(match.peers.map(\.name) == ["stays"])
        #expect(match.peers.first.map(matches.match) == 1)
      }
      #expect(asked.withLock { $0 } == ["stays"] + (0..<24).map { "\($0)" })
    }
  }

  @Test func `a channel that one match leaves unread is paused, and goes on when it is read`()
    async throws
  {
    try await withHostedSession(seats: 2) { hosted in
      let (matches, _) = makeMatches(hosted)
      let words = MessageChannel<UInt32>(3, .reliableOrdered)
      _ = matches.takeMessages(on: words, of: 0)
      try await hosted.join(makePlayer("one", match: 1)) { _, host in
        let count = UInt32(3 * UnreadLimits.messages)
        let sending = Task { for number in 0..<count { try await host.send(number, on: words) } }
        let inbox: Inbox<Received<UInt32>> = matches.inbox(for: words, of: 0)
        while !inbox.isPaused { try await nextFrame() }
        #expect(inbox.count <= UnreadLimits.messages + InboxBatch<Received<UInt32>>.limit)
        var received: [UInt32] = []
        while received.count < count {
          // The other match reads as well, which makes no room in this one's inbox.
          #expect(matches.takeMessages(on: words, of: 1).isEmpty)
          received += matches.takeMessages(on: words, of: 0).map(\.message)
          try await nextFrame()
        }
        #expect(received == Array(0..<count))
        try await sending.value
      }
    }
  }
}
