import CaromCore
import Testing

@testable import CaromPlacement

extension DirectoryCase {
  static let keys: [DirectoryCase] = [
    DirectoryCase("a host with another key than the others is not let in") { fleet in
      let first = try await fleet.start(1, keys: .keys(1))
      let other = TestHost(record: .make(2), keys: .keys(2))
      #expect(try await fleet.register(other) == .notRegistered(.otherKey))
      #expect(try await fleet.status().hosts.map(\.record) == [first.record])
      let newer = TestHost(record: .make(3, game: .newHockey), keys: .keys(2))
      #expect(try await fleet.register(newer) == .notRegistered(.otherKey))
      _ = try await fleet.start(4, keys: .keys(1))
      #expect(try await fleet.register(first.reconnected).registration == RegistrationResult())
    },
    DirectoryCase("a fleet without hosts takes any key") { fleet in
      let first = try await fleet.start(1, keys: .keys(1))
      let other = TestHost(record: .make(2), keys: .keys(2))
      #expect(try await fleet.send(.withdraw, from: first) == .done)
      #expect(try await fleet.register(other).registration == RegistrationResult())
      #expect(try await fleet.register(first.restarted) == .notRegistered(.otherKey))
      fleet.advance(by: .seconds(3))
      #expect(try await fleet.register(first.restarted).registration == RegistrationResult())
    },
    DirectoryCase("a host is let in if each accepts the tokens of the other") { fleet in
      let old = try await fleet.start(1, keys: .keys(1))
      for (keys, isLetIn) in [
        (HostKeys.keys(1, 2), true), (.keys(2, 1), false), (.keys(3, 1), false),
        (.keys(1, 3, 2, 4), true), (HostKeys(), true),
      ] {
        let host = TestHost(record: .make(2), keys: keys)
        let answer = try await fleet.register(host)
        #expect(answer.registration != nil || answer == .notRegistered(.otherKey))
        #expect((answer.registration != nil) == isLetIn)
        if isLetIn { _ = try await fleet.send(.withdraw, from: host) }
      }
      #expect(try await fleet.send(.withdraw, from: old) == .done)
    },
    DirectoryCase("a fleet changes its key in three rounds") { fleet in
      var hosts = [TestHost(record: .make(1)), TestHost(record: .make(2))]
      for keys in [HostKeys.keys(1), .keys(1, 2), .keys(2, 1), .keys(2)] {
        for index in hosts.indices {
          _ = try await fleet.send(.withdraw, from: hosts[index])
          hosts[index] = hosts[index].restarted
          hosts[index].keys = keys
          #expect(try await fleet.register(hosts[index]).registration == RegistrationResult())
        }
      }
    },
    DirectoryCase("a match is placed only with a key that all hosts have") { fleet in
      func place(_ match: Int, _ key: Int?) async throws -> DirectoryAnswer {
        var request = PlacementRequest(.match(match), players: [.player(match)], game: .hockey)
        request.key = key.map(KeyFingerprint.key)
        return try await fleet.answer(.place(request))
      }
      #expect(try await place(1, 3) == .refused(.noSuchVersion))
      let first = try await fleet.start(1, keys: .keys(1, 2))
      #expect(try await place(1, 3) == .refused(.otherKey))
      #expect(try await place(1, 2).claim != nil)
      _ = try await fleet.start(2, keys: .keys(1))
      #expect(try await place(1, 2) == .refused(.otherKey))
      #expect(try await place(2, 1).claim != nil)
      #expect(try await place(3, nil).claim != nil)
      #expect(try await fleet.send(.withdraw, from: first) == .done)
      #expect(try await place(4, 2) == .refused(.otherKey))
      fleet.advance(by: .seconds(3))
      _ = try await fleet.start(3, keys: .keys(2))
      #expect(try await place(4, 2).claim != nil)
    },
  ]
}
