import CaromCore
import Testing

@testable import CaromPlacement

extension DirectoryCase {
  static let placing: [DirectoryCase] = [
    DirectoryCase("a match is placed at a host that runs its version") { fleet in
      #expect(try await fleet.place(1, .player(1)) == .refused(.noSuchVersion))
      let old = try await fleet.start(1)
      let new = try await fleet.start(2, game: .newHockey)
      #expect(try await fleet.place(1, .player(1)).host == old.id)
      #expect(try await fleet.place(2, .player(1), game: .newHockey).host == new.id)
      #expect(
        try await fleet.place(3, .player(1), game: GameVersion("chess", "1"))
          == .refused(.noSuchVersion))
    },
    DirectoryCase("the answer has the host's whole record") { fleet in
      let host = try await fleet.start(1, region: "us-east", seats: 3)
      let placement = try #require(try await fleet.place(1, .player(1)).placement)
      #expect(placement.host == host.record)
      #expect(placement.claim.match == .match(1))
    },
    DirectoryCase("a match is placed where its players have room") { fleet in
      let small = try await fleet.start(1, seats: 2)
      let large = try await fleet.start(2, seats: 4)
      #expect(try await fleet.place(1, .players(1...3)).host == large.id)
      #expect(try await fleet.place(2, .players(1...2)).host == small.id)
      #expect(try await fleet.place(3, .players(1...2)) == .refused(.noRoom))
      #expect(try await fleet.place(4, .player(1)).host == large.id)
      #expect(try await fleet.seatsInUse(large) == 4)
    },
    DirectoryCase("the host that uses the least of its seats gets the match") { fleet in
      let small = try await fleet.start(1, seats: 4)
      let large = try await fleet.start(2, seats: 12)
      let first = try await fleet.place(1, .player(1)).host
      #expect(first == min(small.id, large.id))
      var counts: [PeerID: Int] = first.map { [$0: 1] } ?? [:]
      for match in 2...8 {
        let host = try #require(try await fleet.place(match, .player(1)).host)
        counts[host, default: 0] += 1
      }
      #expect(counts == [small.id: 2, large.id: 6])
    },
    DirectoryCase("regions are tried in their order, and no others") { fleet in
      let east = try await fleet.start(1, region: "east", seats: 1)
      let west = try await fleet.start(2, region: "west", seats: 1)
      let south = try await fleet.start(3, region: "south")
      #expect(try await fleet.place(1, .player(1), near: ["west", "east"]).host == west.id)
      #expect(try await fleet.place(2, .player(1), near: ["west", "east"]).host == east.id)
      #expect(try await fleet.place(3, .player(1), near: ["west", "east"]) == .refused(.noRoom))
      #expect(try await fleet.place(4, .player(1), near: ["north"]) == .refused(.noRoom))
      #expect(try await fleet.place(5, .player(1)).host == south.id)
    },
    DirectoryCase("an overloaded host gets a match only if no other has room") { fleet in
      let tired = try await fleet.start(1)
      let fresh = try await fleet.start(2, seats: 2)
      let load = HostLoad(lateTicks: HostLoad.lateTickLimit)
      #expect(try await fleet.send(.renew(load), from: tired).assigned == [])
      #expect(try await fleet.place(1, .player(1)).host == fresh.id)
      #expect(try await fleet.place(2, .player(1)).host == fresh.id)
      #expect(try await fleet.place(3, .player(1)).host == tired.id)
      let almost = HostLoad(lateTicks: 49, processor: HostLoad.processorLimit - 1)
      _ = try await fleet.send(.renew(almost), from: tired)
      _ = try await fleet.send(.renew(HostLoad(processor: 900)), from: fresh)
      #expect(try await fleet.status().hosts.map(\.load.isOverloaded).count { $0 } == 1)
      #expect(try await fleet.place(4, .player(1)).host == tired.id)
    },
    DirectoryCase("a host that drains gets no match") { fleet in
      let host = try await fleet.start(1)
      #expect(try await fleet.answer(.drain(host.id)) == .done)
      #expect(try await fleet.place(1, .player(1)) == .refused(.noRoom))
      #expect(
        try await fleet.send(.renew(HostLoad()), from: host)
          == .renewed(isDraining: true, assigned: []))
      let other = try await fleet.start(2)
      #expect(try await fleet.send(.drain, from: other) == .done)
      #expect(try await fleet.place(1, .player(1)) == .refused(.noRoom))
      #expect(try await fleet.answer(.drain(.player(9))) == .unknownHost)
    },
    DirectoryCase("a host that registers again still drains") { fleet in
      let host = try await fleet.start(1)
      #expect(try await fleet.answer(.drain(host.id)) == .done)
      try await fleet.register(host.reconnected)
      #expect(try await fleet.place(1, .player(1)) == .refused(.noRoom))
      let other = TestHost(record: .make(2))
      try await fleet.register(other, isDraining: true)
      #expect(try await fleet.place(1, .player(1)) == .refused(.noRoom))
    },
    DirectoryCase("the same request has the same answer") { fleet in
      let hosts = [try await fleet.start(1), try await fleet.start(2)]
      let first = try await fleet.place(1, .players(1...2))
      #expect(first.claim != nil)
      #expect(try await fleet.place(1, .players(1...2)) == first)
      #expect(try await fleet.status().hosts.map(\.seatsInUse).reduce(0, +) == 2)
      #expect(hosts.count == 2)
    },
    DirectoryCase("a match of another version keeps its name") { fleet in
      _ = try await fleet.start(1)
      _ = try await fleet.start(2, game: .newHockey)
      _ = try await fleet.place(1, .player(1))
      #expect(
        try await fleet.place(1, .player(2), game: .newHockey) == .refused(.otherVersion))
    },
    DirectoryCase("more players come to the match's host while it has room") { fleet in
      let host = try await fleet.start(1, seats: 3)
      let claim = try await fleet.place(1, .player(1)).claim
      #expect(claim?.host == host.id)
      _ = try await fleet.start(2, seats: 100)
      for player in 2...3 { #expect(try await fleet.locate(1, .player(player)).claim == claim) }
      #expect(try await fleet.locate(1, .player(4)) == .refused(.noRoom))
      #expect(try await fleet.place(1, .players(1...3)).claim == claim)
    },
    DirectoryCase("a match has at most 128 players") { fleet in
      _ = try await fleet.start(1, seats: 200)
      #expect(try await fleet.place(1, .players(1...127)).claim != nil)
      #expect(try await fleet.place(1, .players(127...129)) == .refused(.tooManyPlayers))
      #expect(try await fleet.place(1, .players(127...128)).claim != nil)
      #expect(try await fleet.locate(1, .player(129)) == .refused(.tooManyPlayers))
    },
    DirectoryCase("a host has at most 1,024 matches") { fleet in
      _ = try await fleet.start(1, seats: 2_000)
      for match in 0..<PlacementRules.matchLimit {
        #expect(try await fleet.place(match, .player(1)).claim != nil)
      }
      #expect(try await fleet.place(2_000, .player(1)) == .refused(.noRoom))
    },
    DirectoryCase("the doors of a host are the next six of its version in the order of the ids") {
      fleet in
      var hosts: [TestHost] = []
      for number in 1...8 { hosts.append(try await fleet.start(number, region: "r\(number % 3)")) }
      let stranger = try await fleet.start(9, game: .newHockey)
      hosts.sort { $0.id < $1.id }
      for index in hosts.indices {
        let ring = (1...6).map { hosts[(index + $0) % 8].record }
        #expect(try await fleet.answer(.doors(of: hosts[index].id)) == .doors(ring))
      }
      #expect(try await fleet.answer(.doors(of: stranger.id)) == .doors([]))
      #expect(try await fleet.answer(.doors(of: .player(1))) == .unknownHost)
      // A host that drains is a door until it leaves.
      _ = try await fleet.answer(.drain(hosts[1].id))
      #expect(
        try await fleet.answer(.doors(of: hosts[0].id)) == .doors(hosts[1...6].map(\.record)))
      #expect(try await fleet.send(.withdraw, from: hosts[1]) == .done)
      #expect(
        try await fleet.answer(.doors(of: hosts[0].id)) == .doors(hosts[2...7].map(\.record)))
      fleet.advance(by: .seconds(2))
      _ = try await fleet.send(.renew(HostLoad()), from: hosts[0])
      _ = try await fleet.send(.renew(HostLoad()), from: hosts[5])
      fleet.advance(by: .seconds(1))
      #expect(try await fleet.answer(.doors(of: hosts[0].id)) == .doors([hosts[5].record]))
    },
    DirectoryCase("the status shows each host and how many matches there are") { fleet in
      let a = try await fleet.start(1)
      let b = try await fleet.start(2, region: "us")
      let load = HostLoad(lateTicks: 3, processor: 70)
      _ = try await fleet.send(.renew(load), from: a)
      _ = try await fleet.place(1, .players(1...2), near: ["eu"])
      _ = try await fleet.answer(.drain(b.id))
      let rows = [
        HostStatus(a.record, seatsInUse: 2, matches: 1, load: load, isDraining: false),
        HostStatus(b.record, seatsInUse: 0, matches: 0, load: HostLoad(), isDraining: true),
      ]
      #expect(
        try await fleet.status()
          == FleetStatus(
            hosts: rows.sorted { $0.record.id < $1.record.id }, matches: 1, orphans: 0, finished: 0)
      )
    },
  ]
}
