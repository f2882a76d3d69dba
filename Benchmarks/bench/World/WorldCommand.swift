import ArgumentParser

/// Bytes and time of many entities and clients.
struct WorldCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "world",
    abstract: "Bytes and time of a world of a thousand entities, beside their goals.",
    discussion: """
      A thousand that walk over 500 x 500 m on a lattice of 1 cm, bases 67 ms old: all of them, \
      those within 80 m, and those by tiers; a plough through 900 discs, bases 100 ms old; a \
      hundred clients with eighty entities each; sixteen clients of ten thousand that rest.
      """)

  @Option(help: "Ticks of each scene.")
  var ticks = 1_200

  @Flag(help: "Only count bytes and allocations, and fail where a threshold is exceeded.")
  var check = false

  @Option(help: "The file of thresholds.")
  var thresholds = "Benchmarks/Thresholds/world.json"

  @Flag(help: "One JSON object on one line.")
  var json = false

  func validate() throws {
    guard ticks >= 200 else { throw ValidationError("200 ticks at least") }
  }

  func run() throws {
    let measurement = WorldMeasurement(ticks: check ? 400 : ticks)
    guard check else { return measurement.report.print(json: json) }
    try WorldThresholds.check(measurement.counts, thresholds)
  }
}
