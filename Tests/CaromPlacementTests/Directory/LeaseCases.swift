import CaromCore
import Testing

@testable import CaromPlacement

extension DirectoryCase {
  static let leases: [DirectoryCase] = [
    DirectoryCase("a lease ends 3 seconds after the last renewal") { fleet in
      let host = try await fleet.start(1)
      fleet.advance(by: .milliseconds(2_999))
      #expect(try await fleet.send(.renew(HostLoad()), from: host).assigned == [])
      fleet.advance(by: .milliseconds(2_999))
      #expect(try await fleet.seatsInUse(host) == 0)
      fleet.advance(by: .milliseconds(1))
      #expect(try await fleet.seatsInUse(host) == nil)
      #expect(try await fleet.send(.renew(HostLoad()), from: host) == .unknownHost)
      #expect(try await fleet.place(1, .player(1)) == .refused(.noSuchVersion))
    },
    DirectoryCase("a match whose host is dead goes to another when a player asks") { fleet in
      let a = try await fleet.start(1)
      let old = try await fleet.play(1, .player(1), .player(2), at: a)
      #expect(try await fleet.send(.save(old, .at(60)), from: a) == .done)
      let b = try await fleet.start(2)
      try await fleet.run(b, for: 3)
      #expect(try await fleet.status().orphans == 1)
      let claim = try #require(try await fleet.locate(1, .player(2)).claim)
      #expect(claim.host == b.id)
      #expect(claim.number > old.number)
      #expect(try await fleet.locate(1, .player(1)).claim == claim)
      #expect(
        try await fleet.send(.resume(claim), from: b)
          == .resumed(.at(60), players: [.player(1), .player(2)]))
      #expect(try await fleet.status().orphans == 0)
      #expect(try await fleet.seatsInUse(b) == 2)
    },
    DirectoryCase("an orphan goes to another region if its own has no room") { fleet in
      let a = try await fleet.start(1, region: "east")
      let claim = try #require(try await fleet.place(1, .player(1), near: ["east"]).claim)
      #expect(try await fleet.send(.takeSeat(claim, player: .player(1)), from: a) == .done)
      let b = try await fleet.start(2, region: "west")
      try await fleet.run(b, for: 3)
      #expect(try await fleet.locate(1, .player(1)).host == b.id)
    },
    DirectoryCase("an orphan is forgotten after 60 seconds") { fleet in
      let a = try await fleet.start(1)
      _ = try await fleet.play(1, .player(1), at: a)
      fleet.advance(by: .seconds(3))
      #expect(try await fleet.locate(1, .player(1)) == .refused(.noSuchVersion))
      let orphaned = fleet.now
      fleet.advance(by: .milliseconds(59_999))
      #expect(try await fleet.status().orphans == 1)
      fleet.now = orphaned + .seconds(60)
      _ = try await fleet.start(2)
      #expect(try await fleet.locate(1, .player(1)) == .refused(.unknownMatch))
    },
    DirectoryCase("a host that dies before anybody joins leaves an orphan") { fleet in
      _ = try await fleet.start(1)
      _ = try await fleet.place(1, .players(1...2))
      fleet.advance(by: .seconds(3))
      let b = try await fleet.start(2)
      #expect(try await fleet.place(1, .player(1)).host == b.id)
      #expect(try await fleet.seatsInUse(b) == 2)
    },
    DirectoryCase("a takeover that nobody joins leaves an orphan") { fleet in
      let a = try await fleet.start(1)
      _ = try await fleet.play(1, .player(1), at: a)
      let b = try await fleet.start(2)
      try await fleet.run(b, for: 3)
      let claim = try await fleet.locate(1, .player(1)).claim
      #expect(claim?.host == b.id)
      try await fleet.run(b, for: 10)
      #expect(try await fleet.status().orphans == 1)
      #expect(try await fleet.seatsInUse(b) == 0)
      let next = try #require(try await fleet.locate(1, .player(1)).claim)
      #expect(next.host == b.id)
      #expect(next.number > claim?.number ?? .max)
    },
    DirectoryCase("the matches of a host that withdraws are orphans at once") { fleet in
      let a = try await fleet.start(1)
      let old = try await fleet.play(1, .player(1), at: a)
      let b = try await fleet.start(2)
      #expect(try await fleet.send(.withdraw, from: a) == .done)
      #expect(try await fleet.status().hosts.count == 1)
      #expect(try await fleet.locate(1, .player(1)).host == b.id)
      #expect(try await fleet.send(.takeSeat(old, player: .player(2)), from: a) == .unknownHost)
      #expect(try await fleet.send(.withdraw, from: a) == .unknownHost)
    },
  ]

  static let returns: [DirectoryCase] = [
    DirectoryCase("a returning host keeps what nobody claimed") { fleet in
      let a = try await fleet.start(1)
      let kept = try await fleet.play(1, .player(1), .player(2), at: a)
      let lost = try await fleet.play(2, .player(3), at: a)
      #expect(try await fleet.send(.save(kept, .at(9)), from: a) == .done)
      let b = try await fleet.start(2)
      try await fleet.run(b, for: 3)
      let taken = try #require(try await fleet.locate(2, .player(3)).placement)
      #expect(taken.claim.host == b.id)
      let holding = [
        HeldMatch(kept, players: [.player(2), .player(4)]), HeldMatch(lost, players: [.player(3)]),
      ]
      #expect(
        try await fleet.register(a.reconnected, holding: holding)
          == .registered(RegistrationResult(lost: [LostMatch(lost, to: taken)])))
      #expect(try await fleet.seatsInUse(a) == 2)
      #expect(
        try await fleet.send(.resume(kept), from: a.reconnected)
          == .resumed(.at(9), players: [.player(2), .player(4)]))
    },
    DirectoryCase("a host that was never away tells which players it has") { fleet in
      let a = try await fleet.start(1)
      let played = try await fleet.play(1, .player(1), .player(2), at: a)
      _ = try await fleet.play(2, .player(3), at: a)
      let fresh = try #require(try await fleet.place(3, .player(4)).claim)
      #expect(try await fleet.locate(1, .player(5)).claim == played)
      let holding = [HeldMatch(played, players: [.player(2), .player(6)])]
      let next = a.reconnected
      #expect(
        try await fleet.register(next, holding: holding).registration
          == RegistrationResult())
      #expect(
        try await fleet.send(.resume(played), from: next)
          == .resumed(nil, players: [.player(2), .player(5), .player(6)]))
      // The host does not hold the second match any more, and has not heard of the third.
      #expect(try await fleet.status().orphans == 1)
      #expect(try await fleet.send(.renew(HostLoad()), from: next).assigned == [fresh])
      #expect(try await fleet.seatsInUse(a) == 4)
    },
    DirectoryCase("players whose seats were given to others are named") { fleet in
      let a = try await fleet.start(1, seats: 3)
      let first = try await fleet.play(1, .player(1), at: a)
      _ = try await fleet.place(2, .players(2...3))
      let holding = [HeldMatch(first, players: [.player(1), .player(4)])]
      #expect(
        try await fleet.register(a.reconnected, holding: holding).registration
          == RegistrationResult(unseated: [HeldMatch(first, players: [.player(4)])]))
      #expect(try await fleet.seatsInUse(a) == 3)
    },
    DirectoryCase("a directory that forgot everything hears it from the hosts") { fleet in
      let a = try await fleet.start(1)
      let claim = try await fleet.play(1, .player(1), at: a)
      try await fleet.directory.forgetEverything()
      #expect(try await fleet.send(.renew(HostLoad()), from: a) == .unknownHost)
      #expect(try await fleet.locate(1, .player(1)) == .refused(.unknownMatch))
      let holding = [HeldMatch(claim, players: [.player(1)])]
      #expect(
        try await fleet.register(a, holding: holding).registration
          == RegistrationResult())
      let placement = try #require(try await fleet.locate(1, .player(1)).placement)
      #expect(placement == Placement(claim, at: a.record))
      fleet.advance(by: .seconds(3))
      let b = try await fleet.start(2)
      let next = try #require(try await fleet.locate(1, .player(1)).claim)
      #expect(next.host == b.id)
      #expect(next.number > claim.number)
    },
    DirectoryCase("of two hosts that hold a match, the newer claim counts") { fleet in
      for isOlderFirst in [true, false] {
        try await fleet.directory.forgetEverything()
        let a = try await fleet.start(1)
        let old = try await fleet.play(1, .player(1), at: a)
        let b = try await fleet.start(2)
        try await fleet.run(b, for: 3)
        let new = try #require(try await fleet.locate(1, .player(1)).claim)
        try await fleet.directory.forgetEverything()
        let held = [
          (a, HeldMatch(old, players: [.player(1)])), (b, HeldMatch(new, players: [.player(2)])),
        ]
        for (host, match) in isOlderFirst ? held : held.reversed() {
          try await fleet.register(host, holding: [match])
        }
        let placement = Placement(new, at: b.record)
        #expect(try await fleet.send(.save(old, .at(1)), from: a) == .superseded(placement))
        #expect(try await fleet.send(.save(new, .at(1)), from: b) == .done)
        #expect(try await fleet.seatsInUse(a) == 0)
        #expect(try await fleet.seatsInUse(b) == 1)
      }
    },
    DirectoryCase("a host cannot hold what another host claimed, nor a match that is over") {
      fleet in
      let a = try await fleet.start(1)
      let claim = try await fleet.play(1, .player(1), at: a)
      #expect(try await fleet.send(.finish(claim, result: [1]), from: a) == .done)
      let b = TestHost(record: .make(2))
      let older = MatchClaim(claim.match, host: b.id, number: claim.number - 1)
      for held in [claim, older] {
        #expect(
          try await fleet.register(b, holding: [HeldMatch(held, players: [])]).registration
            == RegistrationResult(lost: [LostMatch(held, to: nil)]))
      }
      // The host has not heard yet that the result has arrived.
      let holding = [HeldMatch(claim, players: [.player(1)])]
      #expect(
        try await fleet.register(a.reconnected, holding: holding).registration
          == RegistrationResult())
      #expect(try await fleet.status().finished == 1)
    },
  ]
}
