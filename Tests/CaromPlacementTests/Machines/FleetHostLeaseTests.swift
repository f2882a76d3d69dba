import CaromCore
import Testing

@testable import CaromPlacement

@Suite struct FleetHostLeaseTests {
  private static func registration(
    isDraining: Bool = false, holding: [HeldMatch] = []
  ) -> HostCommand {
    .register(
      HostRegistration(
        .make(1, seats: 4), keys: .keys(1, 2), isDraining: isDraining, holding: holding))
  }

  @Test func `a host registers at once, and renews its lease each second`() {
    var host = HostScript()
    #expect(host.sent == [Self.registration()])
    #expect(!host.machine.isAdmitting(at: host.now))
    host.answer(.registered(RegistrationResult()))
    #expect(host.takeEvents() == [.registered])
    for _ in 0..<3 {
      host.fire()
      #expect(host.sent == [.renew(HostLoad())])
      host.answer(.renewed(isDraining: false, assigned: []))
      host.advance(by: .milliseconds(999))
      #expect(host.sent == [])
      host.now = host.now + .milliseconds(1)
    }
    host.machine.load = HostLoad(lateTicks: 7)
    host.fire()
    #expect(host.sent == [.renew(HostLoad(lateTicks: 7))])
  }

  @Test func `a lease counts from when the renewal was sent`() {
    var host = HostScript()
    host.advance(by: .milliseconds(900))
    host.answer(.registered(RegistrationResult()))
    host.fire()
    #expect(host.machine.isAdmitting(at: .zero + .milliseconds(2_999)))
    host.advance(by: .milliseconds(2_099))
    #expect(host.takeEvents() == [.registered])
    host.advance(by: .milliseconds(1))
    #expect(host.takeEvents() == [.leaseEnded])
    #expect(!host.machine.isAdmitting(at: host.now))
    #expect(host.admit(.player(1), HostScript.claim(1)) == .tryAgain)
  }

  @Test func `an answer that comes after a whole lease gives none`() {
    var host = HostScript()
    host.now = .zero + .seconds(3)
    host.answer(.registered(RegistrationResult()))
    #expect(!host.machine.isAdmitting(at: host.now))
    host.fire()
    host.answer(.renewed(isDraining: false, assigned: []))
    #expect(host.machine.isAdmitting(at: host.now))
  }

  @Test func `a directory that says nothing for 3 seconds is called on another connection`() {
    let claim = HostScript.claim(1)
    var host = HostScript.playing(claim)
    host.advance(by: .milliseconds(3_999))
    #expect(host.connection == 1)
    let late = host.sent.count
    #expect(late > 1)
    host.advance(by: .milliseconds(1))
    #expect(host.connection == 2)
    let held = HeldMatch(claim, players: [.player(1)])
    #expect(host.sent == [Self.registration(holding: [held])])
    host.machine.handle(.unknownHost, on: 1, at: host.now)
    host.collect()
    #expect(host.sent.count == 1)
    #expect(host.takeEvents() == [.leaseEnded])
    host.answer(.registered(RegistrationResult()))
    #expect(host.takeEvents() == [.registered])
    #expect(host.machine.matches[claim.match]?.players == [.player(1)])
  }

  @Test func `a broken connection is opened again after half a second`() {
    var host = HostScript.registered()
    host.machine.handleDisconnect(of: 1, at: host.now)
    host.advance(by: .milliseconds(499))
    #expect(host.connection == 1)
    host.advance(by: .milliseconds(1))
    #expect(host.connection == 2)
    host.machine.handleDisconnect(of: 1, at: host.now)
    host.answer(.registered(RegistrationResult()))
    #expect(host.takeEvents() == [.registered])
  }

  @Test func `a host that the directory does not know registers on the same connection`() {
    let claim = HostScript.claim(1)
    var host = HostScript.playing(claim)
    host.machine.save(.at(60), of: claim.match, at: host.now)
    host.advance(by: .seconds(1))
    #expect(host.sent == [.renew(HostLoad()), .save(claim, .at(60))])
    host.answer(.unknownHost)
    host.answer(.unknownHost)
    let held = HeldMatch(claim, players: [.player(1)])
    #expect(host.sent == [Self.registration(holding: [held])])
    host.answer(.registered(RegistrationResult()))
    host.fire()
    #expect(host.sent == [.renew(HostLoad()), .save(claim, .at(60))])
  }

  @Test func `what a returning host lost is lost, and players without a seat leave`() {
    let kept = HostScript.claim(1)
    let lost = HostScript.claim(2)
    var host = HostScript.playing(kept)
    for (player, claim) in [(PeerID.player(2), kept), (.player(3), lost)] {
      #expect(host.admit(player, claim) == .accepted)
    }
    host.machine.handleDisconnect(of: 1, at: host.now)
    host.advance(by: .milliseconds(500))
    let newer = MatchClaim(lost.match, host: HostRecord.make(2).id, number: 11)
    let placement = Placement(newer, at: .make(2))
    host.answer(
      .registered(
        RegistrationResult(
          lost: [LostMatch(lost, to: placement)],
          unseated: [HeldMatch(kept, players: [.player(2)])])))
    #expect(
      host.takeEvents()
        == [.registered, .lost(lost, to: placement), .noSeat(kept, player: .player(2))])
    #expect(host.machine.matches.keys.sorted() == [kept.match])
    #expect(host.machine.matches[kept.match]?.players == [.player(1)])
  }

  @Test(arguments: [RegistrationRefusal.identityInUse, .otherKey])
  func `a host that is not let in asks again, tells that once, and gives up after 4 seconds`(
    refusal: RegistrationRefusal
  ) {
    var host = HostScript()
    host.answer(.notRegistered(refusal))
    #expect(host.takeEvents() == [.refused(refusal)])
    for _ in 0..<7 {
      host.advance(by: .milliseconds(499))
      #expect(host.sent == [] && host.connection == 1)
      host.advance(by: .milliseconds(1))
      #expect(host.sent == [Self.registration()])
      host.answer(.notRegistered(refusal))
      #expect(host.takeEvents() == [] && !host.machine.isAdmitting(at: host.now))
    }
    host.advance(by: .milliseconds(500))
    host.answer(.notRegistered(refusal))
    #expect(host.takeEvents() == [.gaveUp(refusal)])
    #expect(host.machine.nextTimeout == nil)
  }

  @Test func `a host that is let in after all is one like any other`() {
    var host = HostScript()
    host.answer(.notRegistered(.identityInUse))
    host.advance(by: .seconds(3))
    host.answer(.notRegistered(.identityInUse))
    host.advance(by: .milliseconds(500))
    host.answer(.registered(RegistrationResult()))
    #expect(host.takeEvents() == [.refused(.identityInUse), .registered])
    #expect(host.machine.isAdmitting(at: host.now))
    // Four seconds count from the first refusal in a row.
    host.fire()
    host.answer(.replaced)
    host.answer(.notRegistered(.identityInUse))
    #expect(host.takeEvents() == [.leaseEnded, .refused(.identityInUse)])
    #expect(host.machine.nextTimeout == host.now + .milliseconds(500))
  }

  @Test func `a host whose id another process has taken registers again at once`() {
    var host = HostScript.registered()
    host.advance(by: .seconds(1))
    host.answer(.replaced)
    #expect(host.sent == [Self.registration()] && host.connection == 1)
    // What the host had sent before is answered in the same way.
    host.machine.drain(at: host.now)
    host.collect()
    host.answer(.notRegistered(.identityInUse), to: Self.registration())
    host.answer(.replaced, to: .drain)
    #expect(host.takeEvents() == [.leaseEnded, .refused(.identityInUse)])
    #expect(host.sent == [])
  }

  @Test func `a host that is not let in can leave, and a new connection begins again`() {
    var host = HostScript()
    host.answer(.notRegistered(.otherKey))
    host.advance(by: .milliseconds(3_400))
    host.answer(.notRegistered(.otherKey))
    host.machine.handleDisconnect(of: 1, at: host.now)
    host.advance(by: .milliseconds(700))
    #expect(host.connection == 2)
    host.answer(.notRegistered(.otherKey))
    #expect(host.takeEvents() == [.refused(.otherKey)])
    host.machine.withdraw(at: host.now)
    host.collect()
    #expect(host.takeEvents() == [.withdrawn] && host.sent == [])
  }

  @Test func `an operator's wish that a host drains is told once, and repeated to the directory`() {
    var host = HostScript.registered()
    for _ in 0..<2 {
      host.advance(by: .seconds(1))
      host.answer(.renewed(isDraining: true, assigned: []))
    }
    #expect(host.takeEvents() == [.drainRequested(patience: nil)])
    for _ in 0..<2 {
      host.advance(by: .seconds(1))
      host.answer(.renewed(isDraining: true, patience: .seconds(9), assigned: []))
    }
    #expect(host.takeEvents() == [.drainRequested(patience: .seconds(9))])
    host.machine.handleDisconnect(of: 1, at: host.now)
    host.advance(by: .milliseconds(500))
    #expect(host.sent == [Self.registration(isDraining: true)])
    #expect(host.admit(.player(1), HostScript.claim(1)) == .tryAgain)
  }

  @Test func `a host leaves when the directory knows, or does not answer`() {
    for isAnswered in [true, false] {
      var host = HostScript.registered()
      host.advance(by: .seconds(1))
      host.machine.withdraw(at: host.now)
      host.collect()
      #expect(host.sent == [.renew(HostLoad()), .withdraw])
      #expect(!host.machine.isAdmitting(at: host.now))
      if isAnswered {
        host.answer(.renewed(isDraining: false, assigned: []))
        #expect(host.takeEvents() == [])
        host.answer(.done)
      } else {
        host.advance(by: .seconds(3))
      }
      #expect(host.takeEvents() == [.withdrawn])
      #expect(host.machine.nextTimeout == nil)
    }
  }
}
