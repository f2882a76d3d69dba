import CaromSimulation

/// The measurements of all scenes of `bench world`.
struct WorldMeasurement {
  /// Near entities are sent in each tick, farther ones 20 and 7 times a second.
  static let tiers = InterestArea([
    InterestTier(within: 20), InterestTier(within: 45, every: 3),
    InterestTier(within: 80, every: 9),
  ])
  static let radius = InterestArea(within: 80)

  private let all: SnapshotFigures
  private let plough: SnapshotFigures
  private let simpleEncodings: [(all: Double, plough: Double)]
  private var near: WorldRun
  private var slowNear: WorldRun
  private var tiered: WorldRun
  private var hundred: WorldRun
  private let idle: WorldIdle
  private let allocations: UInt64
  private var machine = Machine()

  init(ticks: Int) {
    machine.sampleNoise()
    progress("all")
    let crowd = WorldCrowd.trace(ticks: ticks / 2)
    all = SnapshotRun.measure(crowd, delay: 4)
    progress("plough")
    let discs = WorldPlough.trace(ticks: max(ticks, 1_800))
    plough = SnapshotRun.measure(discs, delay: 6)
    simpleEncodings = [
      (SimpleEncodings.bytes(crowd, delay: 4), SimpleEncodings.bytes(discs, delay: 6)),
      (SimpleEncodings.twoLevels(crowd, delay: 4), SimpleEncodings.twoLevels(discs, delay: 6)),
    ]
    machine.sampleNoise()
    progress("radius and tiers")
    near = Self.run(Self.radius, clients: 8, ticks: ticks)
    slowNear = Self.run(Self.radius, clients: 8, interval: 3, ticks: ticks)
    tiered = Self.run(Self.tiers, clients: 8, ticks: ticks)
    machine.sampleNoise()
    progress("a hundred clients")
    // A radius slightly larger than 80 m, because many of the hundred clients stand near the edge
    // and see fewer entities.
    hundred = WorldRun(InterestArea(within: 86), clients: 100)
    hundred.run(ticks: 10 * WorldRun.warmUp, reading: true, counting: false)
    hundred.run(ticks: 1, reading: true, counting: true)
    hundred.run(ticks: ticks / 10, reading: false, counting: true)
    allocations = hundred.allocations
    progress("idle")
    idle = WorldIdle()
    machine.sampleNoise()
  }

  private static func run(
    _ area: InterestArea, clients: Int, interval: Int = 1, ticks: Int
  ) -> WorldRun {
    var run = WorldRun(area, clients: clients, interval: interval)
    run.run(ticks: WorldRun.warmUp, reading: true, counting: false)
    run.run(ticks: ticks, reading: true, counting: true)
    return run
  }

  /// The exact counts, by their names in the thresholds file.
  var counts: [(name: String, count: Double)] {
    [
      ("allMean", all.mean), ("allLargest", all.largest), ("radiusRate", near.rate),
      ("tiersRate", tiered.rate), ("ploughRate", plough.rate),
      ("allocations", Double(all.allocations + plough.allocations + allocations)),
      ("idleBytes", Double(idle.bytes)), ("idleAllocations", Double(idle.allocations)),
    ]
  }

  /// The time of a tick with a hundred clients, in milliseconds.
  private var milliseconds: Double {
    Double(hundred.nanoseconds) / Double(max(hundred.clientTicks / 100, 1)) / 1e6
  }

  var report: Report {
    var report = Report(title: "bench world: payload of each client at 60 Hz")
    add("all 1 000", all.mean, all.largest, 1_000, all.bitsPerEntity, all.rate, &report)
    add("within 80 m", near, &report)
    add("within 80 m, 20 Hz", slowNear, &report)
    add("within 80 m by tiers", tiered, &report)
    add("plough, 901", plough.mean, plough.largest, 901, plough.bitsPerEntity, plough.rate, &report)
    report.beginTable()
    for (name, encoding) in zip(["changed, as bytes", "changed, in two sizes"], simpleEncodings) {
      report.add(
        name, .init("all 1 000", encoding.all, "bit/entity"),
        .init("plough", encoding.plough, "bit/entity"))
    }
    report.beginTable()
    for (name, figures) in [("all 1 000", all), ("plough, 901", plough)] {
      report.add(
        name, .init("encode", figures.encodePerEntity, "ns/entity"),
        .init("decode", figures.decodePerEntity, "ns/entity"),
        .init("allocations", Double(figures.allocations)))
    }
    report.beginTable()
    report.add(
      "100 clients", .init("entities", hundred.visible), .init("tick", milliseconds, "ms"),
      .init("allocations/tick", Double(allocations) / Double(max(hundred.clientTicks / 100, 1))))
    report.add(
      "16 clients x 10 000, idle", .init("entities", 10_000),
      .init("tick", idle.idleMicroseconds / 1_000, "ms"),
      .init("allocations/tick", Double(idle.allocations)))
    report.add(
      "16 clients x 10 000, 32 change", .init("entities", 10_000),
      .init("tick", idle.busyMicroseconds / 1_000, "ms"))
    report.sessionGoals = goals
    report.machine = machine.line
    return report
  }

  private func add(_ name: String, _ run: WorldRun, _ report: inout Report) {
    add(name, run.mean, Double(run.largest), run.visible, run.bitsPerVisible, run.rate, &report)
  }

  private func add(
    _ name: String, _ mean: Double, _ most: Double, _ entities: Double, _ bits: Double,
    _ rate: Double, _ report: inout Report
  ) {
    let sealed = rate * (mean + Double(SnapshotMeasurement.tag)) / max(mean, 1)
    report.add(
      name, .init("entities", entities), .init("mean", mean, "B"),
      .init("most", most, "B", heading: "largest"),
      .init("bit/entity", bits), .init("rate", rate, "kbit/s"),
      .init("sealed", sealed, "kbit/s", heading: "encrypted"))
  }

  private var goals: [BenchmarkGoal] {
    [
      BenchmarkGoal("within 80 m, 60 Hz", near.rate, "kbit/s", .atMost, 40),
      BenchmarkGoal("within 80 m by tiers", tiered.rate, "kbit/s", .atMost, 12),
      BenchmarkGoal("all 1 000, the largest datagram", all.largest, "B", .atMost, 1_200),
      BenchmarkGoal("plough through 900 discs", plough.rate, "kbit/s", .atMost, 120),
      BenchmarkGoal("encode, each changed entity", all.encodePerEntity, "ns", .atMost, 110),
      BenchmarkGoal("decode, each changed entity", all.decodePerEntity, "ns", .atMost, 110),
      BenchmarkGoal("100 clients x 80 entities, a tick", milliseconds, "ms", .atMost, 1.5),
      BenchmarkGoal(
        "16 clients x 10 000 entities, an idle tick", idle.idleMicroseconds, "us", .atMost, 30),
      BenchmarkGoal(
        "heap allocations in all ticks of these scenes",
        Double(all.allocations + plough.allocations + allocations) + Double(idle.allocations), "",
        .atMost, 0),
    ]
  }
}
