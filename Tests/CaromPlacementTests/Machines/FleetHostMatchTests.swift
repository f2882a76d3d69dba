import CaromCore
import Testing

@testable import CaromPlacement

@Suite struct FleetHostMatchTests {
  private static let claim = HostScript.claim(1)
  private static let elsewhere = Placement(
    MatchClaim(.match(1), host: HostRecord.make(2).id, number: 11), at: .make(2))

  @Test func `a player is admitted without a question, and its seat taken afterwards`() {
    var host = HostScript.registered()
    #expect(host.admit(.player(1), Self.claim) == .accepted)
    #expect(host.admit(.player(1), Self.claim) == .accepted)
    #expect(host.sent == [.resume(Self.claim), .takeSeat(Self.claim, player: .player(1))])
    host.answer(.resumed(.at(60), players: [.player(1), .player(2)]))
    #expect(
      host.takeEvents()
        == [.assigned(Self.claim, .at(60), players: [.player(1), .player(2)])])
    host.answer(.noSeat)
    #expect(host.takeEvents() == [.noSeat(Self.claim, player: .player(1))])
    #expect(host.machine.playerCount == 0)
  }

  @Test func `players who cannot join are told why`() {
    var host = HostScript.registered(seats: 2)
    let other = MatchClaim(.match(1), host: .player(9), number: 10)
    #expect(host.admit(.player(1), other) == .otherHost)
    #expect(host.admit(.player(1), Self.claim) == .accepted)
    #expect(host.admit(.player(2), HostScript.claim(1, number: 11)) == .tryAgain)
    #expect(host.admit(.player(2), HostScript.claim(1, number: 9)) == .accepted)
    #expect(host.admit(.player(3), Self.claim) == .full)
    host.machine.remove(.player(2), from: .match(1), at: host.now)
    host.collect()
    #expect(host.sent.last == .releaseSeat(Self.claim, player: .player(2)))
    #expect(host.admit(.player(3), Self.claim) == .accepted)
  }

  @Test func `a player who comes after the end does not begin the match again`() {
    var host = HostScript.playing(Self.claim)
    host.machine.finish(.match(1), result: [7], at: host.now)
    host.collect()
    host.answer(.done, to: .finish(Self.claim, result: [7]))
    #expect(host.takeEvents() == [.finished(Self.claim)])
    #expect(host.admit(.player(2), Self.claim) == .tryAgain)
    // The match has come back under a newer claim.
    let next = HostScript.claim(1, number: 11)
    #expect(host.admit(.player(2), next) == .accepted)
    #expect(host.sent == [.resume(next), .takeSeat(next, player: .player(2))])
  }

  @Test func `that a match is over is known for as long as its seats are reserved`() {
    var finished = FinishedMatches()
    let next = HostScript.claim(2)
    finished.insert(Self.claim, at: .zero)
    finished.insert(next, at: .zero + .milliseconds(9_999))
    #expect(finished.contains(Self.claim))
    finished.insert(HostScript.claim(3), at: .zero + .seconds(10))
    #expect(!finished.contains(Self.claim))
    #expect(finished.contains(next))
  }

  @Test func `a match begins when the directory names it, and ends if nobody comes`() {
    var host = HostScript.registered()
    host.advance(by: .seconds(1))
    host.answer(.renewed(isDraining: false, assigned: [Self.claim]))
    host.answer(.resumed(nil, players: [.player(1)]), to: .resume(Self.claim))
    host.advance(by: .seconds(1))
    host.answer(.renewed(isDraining: false, assigned: [Self.claim]))
    #expect(host.sent == [])
    #expect(host.takeEvents() == [.assigned(Self.claim, nil, players: [.player(1)])])
    host.advance(by: .seconds(1))
    host.answer(.renewed(isDraining: false, assigned: []))
    #expect(host.takeEvents() == [.unclaimed(Self.claim)])
    #expect(host.machine.matches.isEmpty)
  }

  @Test func `a match that players have joined does not end with the reservation`() {
    var host = HostScript.playing(Self.claim)
    host.advance(by: .seconds(1))
    host.answer(.renewed(isDraining: false, assigned: []))
    #expect(host.takeEvents() == [])
    #expect(host.machine.matches.count == 1)
  }

  @Test func `the last checkpoint goes with the next renewal, an urgent one at once`() {
    var host = HostScript.playing(Self.claim)
    for tick: UInt64 in [30, 60] { host.machine.save(.at(tick), of: .match(1), at: host.now) }
    host.collect()
    #expect(host.sent == [])
    host.advance(by: .seconds(1))
    #expect(host.sent == [.renew(HostLoad()), .save(Self.claim, .at(60))])
    host.machine.save(.at(61), of: .match(1), isUrgent: true, at: host.now)
    host.collect()
    #expect(host.sent.last == .save(Self.claim, .at(61)))
    host.advance(by: .seconds(1))
    #expect(host.sent.count == 4)
    #expect(host.sent.last == .renew(HostLoad()))
  }

  @Test func `the host knows which checkpoint the directory has`() {
    var host = HostScript.playing(Self.claim)
    func saved() -> UInt64? { host.machine.matches[.match(1)]?.savedTick }
    for tick: UInt64 in [60, 61] {
      host.machine.save(.at(tick), of: .match(1), isUrgent: true, at: host.now)
    }
    host.collect()
    #expect(saved() == nil)
    host.answer(.done, to: .save(Self.claim, .at(60)))
    #expect(saved() == 60)
    host.answer(.done, to: .save(Self.claim, .at(61)))
    #expect(saved() == 61)
    // The directory may be another one that knows nothing.
    host.machine.handleDisconnect(of: 1, at: host.now)
    host.advance(by: .milliseconds(500))
    host.answer(.registered(RegistrationResult()))
    #expect(saved() == nil)
    host.fire()
    host.answer(.renewed(isDraining: false, assigned: []))
    host.answer(.done, to: .save(Self.claim, .at(61)))
    #expect(saved() == 61)
  }

  @Test func `the checkpoint from which a host goes on is saved`() {
    var host = HostScript.registered()
    _ = host.admit(.player(1), Self.claim)
    host.answer(.resumed(.at(60), players: [.player(1)]))
    #expect(host.machine.matches[.match(1)]?.savedTick == 60)
  }

  @Test func `a match that another host claimed is lost`() {
    var host = HostScript.playing(Self.claim)
    host.machine.save(.at(1), of: .match(1), isUrgent: true, at: host.now)
    host.collect()
    host.answer(.superseded(Self.elsewhere))
    #expect(host.takeEvents() == [.lost(Self.claim, to: Self.elsewhere)])
    #expect(host.machine.matches.isEmpty)
  }

  @Test func `a match that comes back under a newer claim goes on`() {
    var host = HostScript.playing(Self.claim)
    let newer = HostScript.claim(1, number: 12)
    host.machine.save(.at(1), of: .match(1), isUrgent: true, at: host.now)
    host.collect()
    host.answer(.superseded(Placement(newer, at: .make(1))))
    #expect(host.takeEvents() == [])
    #expect(host.sent == [.takeSeat(newer, player: .player(1))])
    host.answer(.done)
    host.advance(by: .seconds(1))
    #expect(host.sent.last == .save(newer, .at(1)))
  }

  @Test func `a match moves with its last state, and stays if there is no host`() {
    var host = HostScript.playing(Self.claim)
    host.machine.move(.match(1), .at(90), at: host.now)
    host.machine.move(.match(1), .at(91), at: host.now)
    host.collect()
    #expect(host.sent == [.move(Self.claim, .at(90))])
    #expect(host.admit(.player(2), Self.claim) == .tryAgain)
    host.answer(.refused(.noRoom))
    #expect(host.takeEvents() == [.notMoved(Self.claim, .noRoom)])
    host.machine.move(.match(1), nil, at: host.now)
    host.collect()
    host.answer(.placed(Self.elsewhere), to: .move(Self.claim, .at(90)))
    #expect(host.takeEvents() == [.lost(Self.claim, to: Self.elsewhere)])
  }

  @Test func `a match that was to move when the directory went away goes on, and is saved again`() {
    var host = HostScript.playing(Self.claim)
    host.machine.move(.match(1), .at(90), at: host.now)
    host.machine.handleDisconnect(of: 1, at: host.now)
    host.machine.keep(.match(1))
    host.advance(by: .milliseconds(500))
    host.answer(.registered(RegistrationResult()))
    #expect(host.takeEvents() == [.registered])
    #expect(host.sent.isEmpty)
    host.machine.save(.at(95), of: .match(1), at: host.now)
    host.advance(by: .seconds(1))
    #expect(host.sent.contains(.save(Self.claim, .at(95))))
    #expect(host.admit(.player(2), Self.claim) == .accepted)
  }

  @Test func `a result that is being recorded is not taken back`() {
    var host = HostScript.playing(Self.claim)
    host.machine.finish(.match(1), result: [3], at: host.now)
    host.machine.keep(.match(1))
    #expect(host.admit(.player(2), Self.claim) == .tryAgain)
    host.collect()
    host.answer(.done, to: .finish(Self.claim, result: [3]))
    #expect(host.machine.matches.isEmpty)
  }

  @Test func `a result is sent until it has arrived`() {
    var host = HostScript.playing(Self.claim)
    host.machine.finish(.match(1), result: [3, 2], at: host.now)
    host.collect()
    #expect(host.sent == [.finish(Self.claim, result: [3, 2])])
    host.machine.handleDisconnect(of: 1, at: host.now)
    host.advance(by: .milliseconds(500))
    #expect(host.sent.count == 2)
    host.answer(.registered(RegistrationResult()))
    host.answer(.done, to: .finish(Self.claim, result: [3, 2]))
    #expect(host.takeEvents() == [.registered, .finished(Self.claim)])
    #expect(host.machine.matches.isEmpty)
  }

  @Test func `a directory that lags 8,192 answers behind is called again`() {
    var host = HostScript.playing(Self.claim)
    for tick in 0..<8_193 {
      host.machine.save(.at(UInt64(tick)), of: .match(1), isUrgent: true, at: host.now)
    }
    host.advance(by: .zero)
    #expect(host.connection == 2)
    #expect(host.sent.count == 1)
  }
}
