import CaromCore
import Testing

@testable import CaromPlacement

/// How evenly matches are placed.
@Suite struct SpreadTests {
  private static func directory(hosts: Int, seats: (Int) -> Int) -> MemoryDirectory {
    var directory = MemoryDirectory()
    for number in 0..<hosts {
      let record = HostRecord.make(number, region: "r\(number % 4)", seats: seats(number))
      let sender = CommandSender(record.id, run: 1, connection: 1)
      let registration = HostRegistration(record)
      _ = directory.answer(.host(.register(registration), from: sender), at: .zero)
    }
    return directory
  }

  private static func place(_ count: Int, in directory: inout MemoryDirectory) -> Int {
    (0..<count).count { match in
      let players = [PeerID.player(2 * match), .player(2 * match + 1)]
      let request = PlacementRequest(.match(match), players: players, game: .hockey)
      return directory.answer(.place(request), at: .zero).claim != nil
    }
  }

  @Test func `the busiest of 100 hosts has at most 5 % more than the mean of 10,000 matches`() {
    var directory = Self.directory(hosts: 100) { _ in 400 }
    #expect(Self.place(10_000, in: &directory) == 10_000)
    let counts = directory.hosts.values.map(\.matches.count)
    #expect(counts.reduce(0, +) == 10_000)
    #expect(counts.max() ?? 0 <= 105)
    #expect(directory.faults(at: .zero) == [])
  }

  @Test func `hosts of different sizes are filled to the same part`() {
    var directory = Self.directory(hosts: 40) { $0 % 2 == 0 ? 100 : 300 }
    #expect(Self.place(2_000, in: &directory) == 2_000)
    for host in directory.hosts.values {
      #expect(abs(host.seatsInUse - host.record.seats / 2) <= 2)
    }
  }
}
