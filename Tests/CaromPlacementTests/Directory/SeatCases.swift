import CaromCore
import Testing

@testable import CaromPlacement

extension DirectoryCase {
  static let seats: [DirectoryCase] = [
    DirectoryCase("a seat is reserved for 10 seconds") { fleet in
      let host = try await fleet.start(1)
      let claim = try #require(try await fleet.place(1, .players(1...2)).claim)
      #expect(try await fleet.send(.takeSeat(claim, player: .player(1)), from: host) == .done)
      try await fleet.run(host, for: 9)
      fleet.advance(by: .milliseconds(999))
      #expect(try await fleet.seatsInUse(host) == 2)
      fleet.advance(by: .milliseconds(1))
      #expect(try await fleet.seatsInUse(host) == 1)
    },
    DirectoryCase("a match that nobody joins is forgotten after 10 seconds") { fleet in
      let host = try await fleet.start(1)
      let claim = try #require(try await fleet.place(1, .player(1)).claim)
      try await fleet.run(host, for: 9)
      #expect(try await fleet.send(.renew(HostLoad()), from: host).assigned == [claim])
      try await fleet.run(host, for: 1)
      #expect(try await fleet.seatsInUse(host) == 0)
      #expect(try await fleet.locate(1, .player(1)) == .refused(.unknownMatch))
      #expect(try await fleet.send(.resume(claim), from: host) == .superseded(nil))
    },
    DirectoryCase("a new request reserves the seats for 10 seconds more") { fleet in
      let host = try await fleet.start(1)
      _ = try await fleet.place(1, .players(1...2))
      try await fleet.run(host, for: 6)
      #expect(try await fleet.locate(1, .player(2)).claim != nil)
      try await fleet.run(host, for: 4)
      #expect(try await fleet.seatsInUse(host) == 1)
      try await fleet.run(host, for: 6)
      #expect(try await fleet.seatsInUse(host) == 0)
    },
    DirectoryCase("a player who comes too late gets a seat if one is free") { fleet in
      let host = try await fleet.start(1, seats: 2)
      let claim = try await fleet.play(1, .player(1), at: host)
      try await fleet.run(host, for: 1)
      #expect(try await fleet.send(.takeSeat(claim, player: .player(2)), from: host) == .done)
      #expect(try await fleet.send(.takeSeat(claim, player: .player(3)), from: host) == .noSeat)
      #expect(try await fleet.send(.takeSeat(claim, player: .player(2)), from: host) == .done)
      #expect(try await fleet.seatsInUse(host) == 2)
    },
    DirectoryCase("a seat that is released can be given to others") { fleet in
      let host = try await fleet.start(1, seats: 2)
      let claim = try await fleet.play(1, .player(1), .player(2), at: host)
      #expect(try await fleet.place(2, .player(3)) == .refused(.noRoom))
      for _ in 1...2 {
        let answer = try await fleet.send(.releaseSeat(claim, player: .player(1)), from: host)
        #expect(answer == .done)
      }
      #expect(try await fleet.seatsInUse(host) == 1)
      #expect(try await fleet.place(2, .player(3)).host == host.id)
    },
    DirectoryCase("a player who has a seat and asks again gets no second one") { fleet in
      let host = try await fleet.start(1, seats: 2)
      let claim = try await fleet.play(1, .player(1), at: host)
      #expect(try await fleet.locate(1, .player(1)).claim == claim)
      try await fleet.run(host, for: 11)
      #expect(try await fleet.seatsInUse(host) == 1)
    },
    DirectoryCase("a renewal names the claims that nobody has joined, 64 at most") { fleet in
      let host = try await fleet.start(1, seats: 100)
      var claims: [MatchClaim] = []
      for match in 0..<70 {
        claims.append(try #require(try await fleet.place(match, .player(1)).claim))
      }
      let first = try await fleet.send(.renew(HostLoad()), from: host)
      #expect(first.assigned == Array(claims.prefix(64)))
      for claim in claims.prefix(10) {
        #expect(try await fleet.send(.takeSeat(claim, player: .player(1)), from: host) == .done)
      }
      let second = try await fleet.send(.renew(HostLoad()), from: host)
      #expect(second.assigned == Array(claims.dropFirst(10)))
    },
    DirectoryCase("a host cannot take seats in another host's match") { fleet in
      let a = try await fleet.start(1)
      let claim = try await fleet.play(1, .player(1), at: a)
      let b = try await fleet.start(2)
      let stolen = MatchClaim(claim.match, host: b.id, number: claim.number)
      #expect(
        try await fleet.send(.takeSeat(stolen, player: .player(2)), from: b)
          == .superseded(Placement(claim, at: a.record)))
      #expect(
        try await fleet.send(.takeSeat(claim, player: .player(2)), from: b)
          == .superseded(Placement(claim, at: a.record)))
    },
  ]
}
