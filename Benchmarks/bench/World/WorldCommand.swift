import ArgumentParser

/// Measures the bytes and times of snapshots of many entities for many clients.
struct WorldCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "world",
    abstract: "Measures the bytes and times of large worlds against their goals.",
    discussion: """
      Measures a thousand entities that walk over 500 x 500 m on a lattice of 1 cm, with \
      baselines 67 ms old: all of them, those within 80 m, and those by tiers of distance; a \
      plough through 900 discs, with baselines 100 ms old; a hundred clients with eighty \
      entities each; sixteen clients with ten thousand entities at rest.
      """)

  @Option(help: "The number of ticks of each scene.")
  var ticks = 1_200

  @Flag(help: "Only count bytes and allocations, and fail if one exceeds its threshold.")
  var check = false

  @Option(help: "The JSON file with the thresholds.")
  var thresholds = "Benchmarks/Thresholds/world.json"

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  func validate() throws {
    guard ticks >= 200 else { throw ValidationError("--ticks must be at least 200") }
  }

  func run() throws {
    let measurement = WorldMeasurement(ticks: check ? 400 : ticks)
    guard check else { return measurement.report.print(json: json) }
    try WorldThresholds.check(measurement.counts, thresholds)
  }
}
