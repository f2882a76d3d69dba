import CaromCore
import Testing

@testable import CaromPlacement

/// Whole fleets on virtual time, to which something happens all the time: processes die, networks
/// break and deliver late, the directory is slow or forgets everything, operators drain hosts.
@Suite struct FleetRunTests {
  /// After each command, one claim of a match counts, no seat is used twice and no reservation is
  /// too old; in the end, hosts, players and the directory agree. There are two dozen runs, or as
  /// many as `CAROM_SEEDS` says.
  @Test func `a fleet survives what happens to it`() {
    for seed in 1...(TestSeeds.limit ?? 24) {
      let world = FleetWorld(seed: seed)
      world.run()
      let wrong = world.faults + world.disagreements
      #expect(wrong == [], "seed \(seed)")
      #expect(world.commandCount > 500)
      if !wrong.isEmpty { return }
    }
  }

  /// The same with more hosts and matches: with `CAROM_SEEDS`, three runs of 100 hosts and 10,000
  /// matches.
  @Test func `a large fleet survives what happens to it`() {
    let isLong = TestSeeds.limit != nil
    var settings = FleetWorld.Settings()
    settings.hosts = isLong ? 100 : 10
    settings.seats = 600
    settings.matches = isLong ? 10_000 : 500
    settings.interference = .milliseconds(300)
    settings.checksEveryCommand = false
    for seed: UInt64 in 1...(isLong ? 3 : 1) {
      let world = FleetWorld(seed: seed, settings)
      world.run()
      #expect(world.faults + world.disagreements == [], "seed \(seed)")
      #expect(world.commandCount > 10 * settings.matches)
    }
  }
}
