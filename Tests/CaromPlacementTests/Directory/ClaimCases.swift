import CaromCore
import Testing

@testable import CaromPlacement

extension DirectoryCase {
  static let claims: [DirectoryCase] = [
    DirectoryCase("an older claim's checkpoints and results are refused") { fleet in
      let a = try await fleet.start(1)
      let old = try await fleet.play(1, .player(1), at: a)
      #expect(try await fleet.send(.save(old, .at(5)), from: a) == .done)
      let b = try await fleet.start(2)
      try await fleet.run(b, for: 3)
      let new = try #require(try await fleet.locate(1, .player(1)).placement)
      try await fleet.register(a)
      #expect(try await fleet.send(.save(old, .at(99)), from: a) == .superseded(new))
      #expect(try await fleet.send(.finish(old, result: [1]), from: a) == .superseded(new))
      #expect(try await fleet.send(.move(old, .at(99)), from: a) == .superseded(new))
      #expect(
        try await fleet.send(.releaseSeat(old, player: .player(1)), from: a) == .superseded(new))
      #expect(
        try await fleet.send(.resume(new.claim), from: b)
          == .resumed(.at(5), players: [.player(1)]))
    },
    DirectoryCase("a checkpoint never goes back") { fleet in
      let a = try await fleet.start(1)
      let claim = try await fleet.play(1, .player(1), at: a)
      #expect(try await fleet.send(.resume(claim), from: a) == .resumed(nil, players: [.player(1)]))
      #expect(try await fleet.send(.save(claim, .at(120)), from: a) == .done)
      #expect(try await fleet.send(.save(claim, .at(60)), from: a) == .outdated)
      #expect(try await fleet.send(.save(claim, .at(120)), from: a) == .done)
      #expect(
        try await fleet.send(.resume(claim), from: a) == .resumed(.at(120), players: [.player(1)]))
    },
    DirectoryCase("a state of 8,192 bytes of any value comes back") { fleet in
      let a = try await fleet.start(1)
      let claim = try await fleet.play(1, .player(1), at: a)
      let state = (0..<Checkpoint.maximumLength).map { UInt8(truncatingIfNeeded: $0 * 7) }
      let empty = try #require(Checkpoint(tick: 0, state: []))
      let full = try #require(Checkpoint(tick: MatchClaim.maximumNumber, state: state))
      for checkpoint in [empty, full] {
        #expect(try await fleet.send(.save(claim, checkpoint), from: a) == .done)
        #expect(
          try await fleet.send(.resume(claim), from: a)
            == .resumed(checkpoint, players: [.player(1)]))
      }
      #expect(try await fleet.send(.finish(claim, result: state), from: a) == .done)
      #expect(try await fleet.locate(1, .player(1)) == .over(result: state))
    },
    DirectoryCase("a result is recorded once and found for 60 seconds") { fleet in
      let a = try await fleet.start(1)
      let claim = try await fleet.play(1, .player(1), .player(2), at: a)
      for result in [[7, 3], [0, 0]] as [[UInt8]] {
        #expect(try await fleet.send(.finish(claim, result: result), from: a) == .done)
      }
      #expect(try await fleet.seatsInUse(a) == 0)
      #expect(try await fleet.place(1, .player(1)) == .refused(.matchIsOver))
      #expect(try await fleet.send(.save(claim, .at(1)), from: a) == .superseded(nil))
      try await fleet.run(a, for: 59)
      #expect(try await fleet.locate(1, .player(1)) == .over(result: [7, 3]))
      try await fleet.run(a, for: 1)
      #expect(try await fleet.locate(1, .player(1)) == .refused(.unknownMatch))
      #expect(try await fleet.place(1, .player(1)).host == a.id)
    },
    DirectoryCase("a match is moved to another host with its last state") { fleet in
      let a = try await fleet.start(1)
      let old = try await fleet.play(1, .player(1), .player(2), at: a)
      #expect(try await fleet.send(.move(old, .at(30)), from: a) == .refused(.noRoom))
      #expect(try await fleet.send(.resume(old), from: a) == .resumed(nil, players: .both))
      let b = try await fleet.start(2)
      let placement = try #require(
        try await fleet.send(.move(old, .at(30)), from: a).placement)
      #expect(placement.host == b.record)
      #expect(placement.claim.number > old.number)
      #expect(try await fleet.seatsInUse(a) == 0)
      #expect(try await fleet.seatsInUse(b) == 2)
      #expect(try await fleet.send(.renew(HostLoad()), from: b).assigned == [placement.claim])
      #expect(
        try await fleet.send(.resume(placement.claim), from: b)
          == .resumed(.at(30), players: .both))
      // The answer was lost, and the host asks again.
      #expect(
        try await fleet.send(.move(old, .at(30)), from: a) == .superseded(placement))
    },
    DirectoryCase("a moved match keeps the checkpoint that it had") { fleet in
      let a = try await fleet.start(1)
      let old = try await fleet.play(1, .player(1), at: a)
      #expect(try await fleet.send(.save(old, .at(10)), from: a) == .done)
      let b = try await fleet.start(2)
      let claim = try #require(try await fleet.send(.move(old, nil), from: a).claim)
      #expect(
        try await fleet.send(.resume(claim), from: b)
          == .resumed(.at(10), players: [.player(1)]))
    },
  ]

  static let connections: [DirectoryCase] = [
    DirectoryCase("another process with a host's id is not let in until the lease has ended") {
      fleet in
      let first = try await fleet.start(1)
      let claim = try await fleet.play(1, .player(1), at: first)
      let second = first.restarted
      for _ in 0..<2 {
        #expect(try await fleet.register(second) == .notRegistered(.identityInUse))
        #expect(try await fleet.send(.renew(HostLoad()), from: second) == .replaced)
        #expect(try await fleet.send(.save(claim, .at(1)), from: first) == .done)
        fleet.advance(by: .milliseconds(2_999))
        #expect(try await fleet.send(.renew(HostLoad()), from: first).assigned == [])
      }
      fleet.advance(by: .milliseconds(2_999))
      #expect(try await fleet.register(second) == .notRegistered(.identityInUse))
      fleet.advance(by: .milliseconds(1))
      #expect(try await fleet.register(second).registration == RegistrationResult())
      #expect(try await fleet.status().orphans == 1)
      for command in [HostCommand.renew(HostLoad()), .save(claim, .at(1)), .withdraw] {
        #expect(try await fleet.send(command, from: first) == .replaced)
      }
      #expect(try await fleet.register(first.reconnected) == .notRegistered(.identityInUse))
      #expect(try await fleet.send(.renew(HostLoad()), from: second).assigned == [])
    },
    DirectoryCase("a process comes back when the one that took its place is dead") { fleet in
      let first = try await fleet.start(1)
      let claim = try await fleet.play(1, .player(1), at: first)
      fleet.advance(by: .seconds(3))
      try await fleet.register(first.restarted)
      fleet.advance(by: .seconds(3))
      let holding = [HeldMatch(claim, players: [.player(1)])]
      #expect(
        try await fleet.register(first.reconnected, holding: holding)
          .registration == RegistrationResult())
      #expect(try await fleet.status().orphans == 0)
    },
    DirectoryCase("a host that has left makes room for the next process at once") { fleet in
      let first = try await fleet.start(1)
      #expect(try await fleet.send(.withdraw, from: first) == .done)
      #expect(try await fleet.register(first.restarted).registration == RegistrationResult())
    },
    DirectoryCase("what comes late on a broken connection is refused") { fleet in
      let old = try await fleet.start(1)
      let claim = try await fleet.play(1, .player(1), at: old)
      let new = old.reconnected
      let holding = [HeldMatch(claim, players: [.player(1)])]
      try await fleet.register(new, holding: holding)
      for command in [HostCommand.takeSeat(claim, player: .player(2)), .renew(HostLoad()), .drain] {
        #expect(try await fleet.send(command, from: old) == .unknownHost)
      }
      #expect(try await fleet.register(old) == .unknownHost)
      #expect(try await fleet.status().orphans == 0)
      #expect(try await fleet.seatsInUse(old) == 1)
      #expect(try await fleet.send(.renew(HostLoad()), from: new).assigned == [])
    },
    DirectoryCase("a host whose record changed keeps its matches") { fleet in
      let host = try await fleet.start(1, seats: 4)
      let claim = try await fleet.play(1, .player(1), at: host)
      let larger = TestHost(record: .make(1, region: "us", seats: 6), connection: 2)
      #expect(
        try await fleet.register(
          larger, holding: [HeldMatch(claim, players: [.player(1)])]
        ).registration == RegistrationResult())
      #expect(try await fleet.place(2, .players(1...5), near: ["us"]).host == larger.id)
      #expect(try await fleet.place(3, .player(1), near: ["eu"]) == .refused(.noRoom))
    },
  ]
}

extension [PeerID] {
  fileprivate static var both: [PeerID] { [.player(1), .player(2)] }
}
