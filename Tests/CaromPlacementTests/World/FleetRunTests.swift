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
      if seed % 100 == 0 { print("small fleets: \(seed) runs") }
    }
  }

  /// The same with more hosts and matches: with `CAROM_SEEDS`, as many runs of 100 hosts and 10,000
  /// matches.
  @Test func `a large fleet survives what happens to it`() {
    let isLong = TestSeeds.limit != nil
    var settings = FleetWorld.Settings()
    settings.hosts = isLong ? 100 : 10
    settings.seats = 600
    settings.matches = isLong ? 10_000 : 500
    // Most matches end before the run does, so that a run does not take long.
    settings.matchLength = .seconds(3)...Duration.seconds(20)
    settings.interference = .milliseconds(300)
    settings.fullCheckInterval = .seconds(5)
    for seed in 1...(TestSeeds.limit ?? 1) {
      let world = FleetWorld(seed: seed, settings)
      world.run()
      let wrong = world.faults + world.disagreements
      #expect(wrong == [], "seed \(seed)")
      #expect(world.commandCount > 10 * settings.matches)
      if !wrong.isEmpty { return }
      if isLong, seed % 10 == 0 { print("large fleets: \(seed) runs") }
    }
  }

  /// One of three regions is lost at once: its matches go on in the others. With `CAROM_SEEDS`,
  /// there are 300 hosts and 100,000 matches.
  @Test func `a fleet survives the loss of a region`() {
    let isLong = TestSeeds.limit != nil
    var settings = FleetWorld.Settings()
    settings.hosts = isLong ? 300 : 12
    settings.seats = 2_000
    settings.matches = isLong ? 100_000 : 400
    settings.matchLength = .seconds(30)...Duration.seconds(60)
    // Nothing else happens.
    settings.interference = .seconds(1_000_000)
    settings.fullCheckInterval = .seconds(5)
    let world = FleetWorld(seed: 1, settings)
    let lost = "r0"
    world.schedule(.regionLoss(lost), after: settings.duration * 0.7)
    func matches() -> Int {
      let hosts = world.hosts.filter { $0.record.region == lost }
      return hosts.reduce(0) { $0 + ($1.machine?.matches.count ?? 0) }
    }
    let begin = world.now
    world.run(until: begin + settings.duration * 0.69)
    #expect(matches() > settings.matches / 4)
    world.run(until: begin + settings.duration * 0.71)
    #expect(matches() == 0)
    world.run()
    #expect(world.faults + world.disagreements == [])
    #expect(world.stranded == 0)
  }
}
