import Foundation

/// The match at two rates and two round-trip times, as whole snapshots and as the opponent alone.
struct SnapshotMeasurement {
  /// The results at one rate and round-trip time.
  struct Row {
    let hertz: Int
    let roundTrip: Int
    let whole: SnapshotFigures
    let opponent: SnapshotFigures

    var name: String { "\(hertz) Hz, \(roundTrip) ms" }
  }

  /// The bytes that encryption would add to each datagram.
  static let tag = 16
  /// The bytes of the IPv4 and UDP headers.
  static let internet = 28

  /// The bytes that the session adds to a message.
  private let session = SnapshotSession()
  private(set) var rows: [Row] = []
  private(set) var inputs: SnapshotFigures
  private(set) var fastInputs: SnapshotFigures
  private var machine = Machine()

  init(seconds: Int) {
    machine.sampleNoise()
    for (hertz, roundTrip, delay) in [(60, 50, 4), (60, 100, 7), (120, 50, 7), (120, 100, 13)] {
      progress("\(hertz) Hz, \(roundTrip) ms")
      let trace = SnapshotHockey.trace(hertz: hertz, seconds: seconds)
      rows.append(
        Row(
          hertz: hertz, roundTrip: roundTrip, whole: SnapshotRun.measure(trace, delay: delay),
          opponent: SnapshotRun.measure(SnapshotHockey.opponent(of: trace), delay: delay)))
      machine.sampleNoise()
    }
    progress("inputs")
    inputs = SnapshotInputs.measure(hertz: 60, seconds: seconds, roundTrip: 0.05)
    fastInputs = SnapshotInputs.measure(hertz: 120, seconds: seconds, roundTrip: 0.05)
  }

  /// The exact counts, by their names in the thresholds file.
  var counts: [(name: String, count: Double)] {
    let first = rows[0]
    return [
      ("snapshotMean", first.whole.mean),
      ("snapshotPercentile99", first.whole.percentile(99)),
      ("payloadPercentile95", first.whole.percentile(95) + session.most),
      ("snapshotMeanAt120", rows[2].whole.mean),
      ("opponentMean", first.opponent.mean),
      ("inputMean", inputs.mean),
      ("allocations", Double(first.whole.allocations + first.opponent.allocations)),
    ]
  }

  var report: Report {
    var report = Report(title: "bench snapshot: bytes of a match's packets")
    for row in rows {
      add("\(row.name): snapshot", row.whole, to: &report)
      add("\(row.name): opponent alone", row.opponent, to: &report)
    }
    add("60 Hz, 50 ms: inputs, client to server", inputs, to: &report)
    add("120 Hz, 50 ms: inputs, client to server", fastInputs, to: &report)
    report.beginTable()
    report.add(
      "the session, around a message", .init("mean", session.mean, "B"),
      .init("p95", session.most, "B"))
    report.beginTable()
    for row in rows {
      report.add(
        row.name, .init("encode", row.whole.encodePerEntity, "ns/entity"),
        .init("decode", row.whole.decodePerEntity, "ns/entity"),
        .init("allocations", Double(row.whole.allocations)))
    }
    report.sessionGoals = goals
    report.machine = machine.line
    return report
  }

  private func add(_ name: String, _ figures: SnapshotFigures, to report: inout Report) {
    let around = session.mean + Double(Self.internet)
    report.add(
      name, .init("mean", figures.mean, "B"), .init("p95", figures.percentile(95), "B"),
      .init("p99", figures.percentile(99), "B"),
      .init("most", figures.largest, "B", heading: "largest"),
      .init("payload p95", figures.percentile(95) + session.most, "B"),
      .init("IP", figures.rate(around: around), "kbit/s"),
      .init(
        "sealed p95", figures.percentile(95) + session.most + Double(Self.tag), "B",
        heading: "encrypted p95"),
      .init(
        "sealed IP", figures.rate(around: around + Double(Self.tag)), "kbit/s",
        heading: "encrypted IP"))
  }

  private var goals: [BenchmarkGoal] {
    let first = rows[0]
    let around = session.mean + Double(Self.internet)
    func rate(_ row: Row) -> Double { row.whole.rate(around: around) }
    return [
      BenchmarkGoal("snapshot at 60 Hz and 50 ms, mean", first.whole.mean, "B", .atMost, 7),
      BenchmarkGoal(
        "snapshot at 60 Hz and 50 ms, p99", first.whole.percentile(99), "B", .atMost, 12),
      BenchmarkGoal(
        "UDP payload of a snapshot at 60 Hz and 50 ms, p95",
        first.whole.percentile(95) + session.most, "B", .atMost, 18),
      BenchmarkGoal(
        "opponent alone, with its tick and baseline, mean", first.opponent.mean, "B", .atMost,
        6.5),
      BenchmarkGoal(
        "inputs from client to server, all unacknowledged, mean", inputs.mean, "B", .atMost, 10),
      BenchmarkGoal(
        "IP at 60 Hz, 50 ms, opponent alone", rows[0].opponent.rate(around: around), "kbit/s",
        .atMost, 19.5),
      BenchmarkGoal(
        "IP at 120 Hz, 50 ms, opponent alone", rows[2].opponent.rate(around: around), "kbit/s",
        .atMost, 39),
      BenchmarkGoal("IP at 60 Hz, 50 ms, snapshots", rate(rows[0]), "kbit/s", .atMost, 19.5),
      BenchmarkGoal("IP at 120 Hz, 50 ms, snapshots", rate(rows[2]), "kbit/s", .atMost, 39),
      BenchmarkGoal(
        "IP at 60 Hz, 50 ms, inputs", inputs.rate(around: around), "kbit/s", .atMost, 19.5),
      BenchmarkGoal(
        "IP at 120 Hz, 50 ms, inputs", fastInputs.rate(around: around), "kbit/s", .atMost, 39),
    ]
  }
}
