import CaromCore
import Testing

@testable import CaromPlacement

@Suite struct HostFailoverTests {
  private static let doors = (1...3).map {
    RoutedEndpoint(Endpoint(.v4(0x7F00_0001), port: $0))
  }

  /// Lets time pass, and returns what the player wants to do in it.
  private static func advance(
    _ player: inout HostFailover, _ now: inout Instant, by duration: Duration
  ) -> [HostFailover.Action] {
    let end = now + duration
    while let deadline = player.nextTimeout, deadline <= end {
      now = max(now, deadline)
      player.handleTimeout(at: now)
    }
    now = end
    var actions: [HostFailover.Action] = []
    while let action = player.pollAction() { actions.append(action) }
    return actions
  }

  private var now = Instant.zero
  private var player = HostFailover(doors: doors, startingWith: 2, at: .zero)

  private mutating func advance(by duration: Duration) -> [HostFailover.Action] {
    Self.advance(&player, &now, by: duration)
  }

  @Test mutating func `a player asks the doors in turn after 2 seconds of silence`() {
    #expect(advance(by: .milliseconds(1_999)) == [])
    player.heard(at: now)
    #expect(advance(by: .milliseconds(1_999)) == [])
    #expect(advance(by: .milliseconds(1)) == [.ask(Self.doors[2])])
    #expect(advance(by: .seconds(2)) == [.ask(Self.doors[0]), .ask(Self.doors[1])])
  }

  @Test mutating func `a player goes where a door says, and asks again if nobody is there`() {
    #expect(advance(by: .seconds(2)).count == 1)
    player.handle(.moved(token: [1, 2]), at: now)
    #expect(player.pollAction() == .join(token: [1, 2]))
    #expect(advance(by: .milliseconds(1_999)) == [])
    #expect(advance(by: .milliseconds(1)) == [.ask(Self.doors[0])])
    player.handle(.moved(token: [3]), at: now)
    player.heard(at: now)
    #expect(advance(by: .milliseconds(1_999)) == [.join(token: [3])])
  }

  @Test mutating func `a player asks the doors that it was told last`() {
    #expect(advance(by: .seconds(2)) == [.ask(Self.doors[2])])
    player.setDoors([Self.doors[1], Self.doors[0]], startingWith: 1)
    #expect(advance(by: .seconds(2)) == [.ask(Self.doors[0]), .ask(Self.doors[1])])
  }

  @Test func `a player who knows no door waits to be told one, for a minute`() {
    var player = HostFailover(at: .zero)
    var now = Instant.zero
    #expect(Self.advance(&player, &now, by: .seconds(5)) == [])
    player.setDoors(Self.doors)
    #expect(Self.advance(&player, &now, by: .seconds(1)) == [.ask(Self.doors[0])])
    player.setDoors([])
    #expect(Self.advance(&player, &now, by: .seconds(60)) == [.giveUp(nil)])
  }

  @Test func `a player who loses its host and knows no door gives up at once`() {
    var player = HostFailover(at: .zero)
    player.lost(at: .zero)
    #expect(player.pollAction() == .giveUp(nil) && player.nextTimeout == nil)
  }

  @Test mutating func `a player who finds nobody where a door says asks again after a second`() {
    #expect(advance(by: .seconds(2)).count == 1)
    player.handle(.moved(token: [1]), at: now)
    player.lost(at: now)
    #expect(advance(by: .milliseconds(999)) == [.join(token: [1])])
    #expect(advance(by: .milliseconds(1)) == [.ask(Self.doors[0])])
  }

  @Test mutating func `a player whose host lives waits a second`() {
    #expect(advance(by: .seconds(2)).count == 1)
    player.handle(.stay, at: now)
    player.handle(.over(result: []), at: now)
    #expect(advance(by: .milliseconds(999)) == [])
    #expect(advance(by: .milliseconds(1)) == [.ask(Self.doors[0])])
  }

  @Test(arguments: [PlacementRefusal.otherVersion, .matchIsOver, .tooManyPlayers, .otherKey])
  func `a refusal that will not pass is the end`(_ refusal: PlacementRefusal) {
    var player = player
    var now = now
    #expect(Self.advance(&player, &now, by: .seconds(2)).count == 1)
    player.handle(.refused(refusal), at: now)
    #expect(Self.advance(&player, &now, by: .seconds(9)) == [.giveUp(refusal)])
    player.heard(at: now)
    #expect(player.nextTimeout == nil)
  }

  @Test mutating func `a match that is over is over`() {
    #expect(advance(by: .seconds(2)).count == 1)
    player.handle(.over(result: [7, 3]), at: now)
    #expect(advance(by: .seconds(9)) == [.end(result: [7, 3])])
  }

  @Test mutating func `a match may be unknown until its host has registered again`() {
    #expect(advance(by: .seconds(2)).count == 1)
    for _ in 0..<6 {
      player.handle(.refused(.unknownMatch), at: now)
      #expect(advance(by: .seconds(1)).count == 1)
    }
    #expect(now == .zero + .seconds(8))
    player.handle(.refused(.unknownMatch), at: now)
    #expect(advance(by: .seconds(1)) == [.giveUp(.unknownMatch)])
  }

  @Test(arguments: [nil, PlacementRefusal.noRoom])
  func `a player gives up after a minute, and says why`(_ refusal: PlacementRefusal?) {
    var player = player
    var now = now
    var actions: [HostFailover.Action] = []
    for _ in 0..<61 {
      actions += Self.advance(&player, &now, by: .seconds(1))
      if let refusal { player.handle(.refused(refusal), at: now) }
    }
    #expect(actions.count == 59)
    #expect(actions.last == .giveUp(refusal))
    #expect(now == .zero + .seconds(61))
  }
}
