import ArgumentParser
import Foundation

/// Bytes of a game's snapshots and inputs, and what they take.
struct SnapshotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Bytes of the snapshots and inputs of a match, beside their goals.",
    discussion: """
      A synthetic match on a lattice of 0.5 mm: the game's puck between two hands that change \
      direction eight or nine times a second. Acknowledgements are a round trip and a tick old. \
      A snapshot's bytes hold its tick and its base; the session puts its header and its own \
      acknowledgement around them, encryption 16 bytes more, IP and UDP 28.
      """)

  @Option(help: "Seconds of the match.")
  var seconds = 600

  @Flag(help: "Only count bytes of a minute, and fail where a threshold is exceeded.")
  var check = false

  @Option(help: "The file of thresholds.")
  var thresholds = "Benchmarks/Thresholds/snapshot.json"

  @Flag(help: "Write the table that snapshots start from, as the library has it.")
  var train = false

  @Flag(help: "One JSON object on one line.")
  var json = false

  func validate() throws {
    guard seconds >= 10 else { throw ValidationError("10 seconds at least") }
  }

  func run() throws {
    if train { return print(SnapshotTrainer.table(), terminator: "") }
    let measurement = SnapshotMeasurement(seconds: check ? 60 : seconds)
    guard check else { return measurement.report.print(json: json) }
    try WorldThresholds.check(measurement.counts, thresholds)
  }
}
