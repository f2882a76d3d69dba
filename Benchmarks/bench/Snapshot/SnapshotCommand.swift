import ArgumentParser
import Foundation

/// Measures the bytes and times of a game's snapshots and inputs.
struct SnapshotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Measures the bytes of a match's snapshots and inputs against their goals.",
    discussion: """
      Plays a synthetic match on a lattice of 0.5 mm: the game's puck between two simulated hands \
      that change direction eight or nine times a second. An acknowledgement arrives after a \
      round trip and a tick. A snapshot's bytes include its tick and its baseline. The session \
      adds its header and its acknowledgement, encryption would add 16 bytes, and IP and UDP \
      add 28.
      """)

  @Option(help: "The length of the match, in seconds.")
  var seconds = 600

  @Flag(help: "Only count the bytes of one minute, and fail if a count exceeds its threshold.")
  var check = false

  @Option(help: "The JSON file with the thresholds.")
  var thresholds = "Benchmarks/Thresholds/snapshot.json"

  @Flag(help: "Print the source of SnapshotModelTable.swift, computed from new training data.")
  var train = false

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  func validate() throws {
    guard seconds >= 10 else { throw ValidationError("--seconds must be at least 10") }
  }

  func run() throws {
    if train { return print(SnapshotTrainer.table(), terminator: "") }
    let measurement = SnapshotMeasurement(seconds: check ? 60 : seconds)
    guard check else { return measurement.report.print(json: json) }
    try WorldThresholds.check(measurement.counts, thresholds)
  }
}
