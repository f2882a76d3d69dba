import Carom
import CaromSessionTesting
import Testing

@testable import Together

/// The examples on a virtual network: its time passes without waiting, and its seed repeats a run.
@Suite struct TogetherTests {
  /// The sides of a world, each of which learns of all others, as by DNS-SD.
  private actor Sides {
    private var all: [(nearby: NearbySession, endpoint: Endpoint)] = []

    func add(_ nearby: NearbySession, at endpoint: Endpoint) async {
      let others = all
      all.append((nearby, endpoint))
      for other in others {
        let (id, name) = (other.nearby.local.id, other.nearby.local.name)
        await nearby.add(NearbyPeer(id: id, name: name), at: [other.endpoint])
        let local = NearbyPeer(id: nearby.local.id, name: nearby.local.name)
        await other.nearby.add(local, at: [endpoint])
      }
    }
  }

  /// Runs `count` sides on hosts of their own, and returns what `body` returns for each of them, in
  /// their order.
  private static func run<Result: Sendable>(
    _ count: Int, seed: UInt64, _ profile: LinkProfile, role: Nearby.Role = .joinsEveryone,
    _ body: @escaping @Sendable (NearbySession, Int) async throws -> Result
  ) async throws -> [Result] {
    try await SessionWorld.run(seed: seed) { world in
      let hosts = (0..<count).map { _ in world.addHost() }
      for host in hosts { for other in hosts { world.setProfile(profile, from: host, to: other) } }
      let sides = Sides()
      return try await withThrowingTaskGroup { tasks in
        for (number, host) in hosts.enumerated() {
          tasks.addTask {
            let side = Nearby("\(number)", type: "_demo._udp", on: host.loop)
            let result = try await side.run(role) { nearby in
              await sides.add(nearby, at: Endpoint(host.v4, port: nearby.port))
              return try await body(nearby, number)
            }
            return (number, result)
          }
        }
        var results: [(Int, Result)] = []
        for try await result in tasks { results.append(result) }
        return results.sorted { $0.0 < $1.0 }.map(\.1)
      }
    }
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `players see one game, also when one of them leaves in mid-round`(
    seed: UInt64
  ) async throws {
    let leaver = Int(seed) % 4
    let games = try await Self.run(4, seed: seed, .wifi) { nearby, number in
      try await playCards(
        in: nearby, seats: 4, leavingInRound: number == leaver ? 2 : nil)
    }
    let ends = games.filter { $0.winner != nil }
    #expect(ends.count >= 3)
    #expect(Set(ends.map(\.winner)).count == 1)
    #expect(Set(ends.map(\.players)).count == 1)
    #expect(ends[0].players.contains { $0.points == Cards.goal })
  }

  @Test(arguments: [1, 2, 3] as [UInt64], [LinkProfile.mobile, .poor])
  func `a text that three type at once is the same everywhere`(
    seed: UInt64, profile: LinkProfile
  ) async throws {
    let lines = ["one two ", "three four ", "five six "]
    let length = lines.reduce(0) { $0 + $1.count }
    let end = Meeting(of: lines.count)
    let texts = try await Self.run(3, seed: seed, profile) { nearby, number in
      try await typeTogether(lines[number], in: nearby, until: length) { await end.arrive() }
    }
    #expect(Set(texts).count == 1)
    #expect(lines.allSatisfy(texts[0].contains))
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `an author who comes back types on`(seed: UInt64) async throws {
    let texts = try await Self.run(2, seed: seed, .wifi) { nearby, number in
      guard number == 1 else { return try await typeTogether("abc ", in: nearby, until: 12) }
      _ = try await typeTogether("one ", in: nearby, until: 8)
      return try await typeTogether("two ", in: nearby, until: 12)
    }
    #expect(Set(texts).count == 1)
    #expect(["abc ", "one ", "two "].allSatisfy(texts[0].contains))
  }

  @Test func `a car whose remote control leaves without a word does not move`() async throws {
    let ways = try await Self.run(2, seed: 1, .wifi, role: []) { nearby, number in
      guard number == 0 else { return try await driveCar(nearby).way }
      for await change in nearby.changes {
        if case .added(let car) = change, await nearby.invite(car.id) == .accepted { break }
      }
      return 0
    }
    #expect(ways == [0, 0])
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a car stops within half a second of the last word of its remote control`(
    seed: UInt64
  ) async throws {
    let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
    let drives = try await Self.run(2, seed: seed, .wifi, role: []) { nearby, number in
      guard number == 0 else {
        try await holdStick(nearby) { for await _ in stopped {} }
        return (way: 0.0, overrun: Duration.zero)
      }
      defer { stop.finish() }
      return try await driveCar(nearby)
    }
    let drive = drives[0]
    #expect(drive.way > 0.8)
    #expect(drive.overrun >= .milliseconds(300) && drive.overrun < .milliseconds(500))
  }

  @Test func `readings that are lost are not waited for`() async throws {
    let displays = try await Self.run(3, seed: 5, .poor) { nearby, number in
      if number == 0 {
        try await streamReadings(1000, in: nearby, displays: 2)
        return nil as Display?
      }
      return try await showReadings(until: 950, in: nearby)
    }
    for display in displays.compactMap(\.self) {
      #expect(display.count > 800)
      #expect(display.lost > 0)
      #expect(display.oldest < .seconds(1))
    }
  }
}
