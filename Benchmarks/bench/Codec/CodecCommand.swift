import ArgumentParser
import CaromCodec
import Foundation

/// Frames a second beside a plain copy of the same bytes, and heap allocations a frame.
struct CodecCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "codec",
    abstract: "Frames encoded and decoded a second beside memcpy; payloads as CBOR.")

  @Option(help: "Alternating rounds; medians are reported.")
  var rounds = 7

  @Option(help: "Bytes that pass through each subject a round, MiB.")
  var volume = 16

  @Flag(help: "One JSON object on one line.")
  var json = false

  static let lengths = [16, 128, 1_024, 16_384, 131_072, 1_048_576]

  func validate() throws {
    guard rounds > 0, volume > 0 else { throw ValidationError("rounds and volume are at least 1") }
  }

  func run() throws {
    var machine = Machine()
    var groups = try Self.lengths.map { length in
      try CodecSubject.frames(of: length, volume: volume << 20)
    }
    groups.append(try CodecSubject.payloads())
    for round in 1...rounds {
      progress("round \(round) of \(rounds)")
      machine.sampleNoise()
      for group in groups.indices {
        for subject in groups[group].indices { try groups[group][subject].measure() }
      }
    }
    var report = Report(
      title: "bench codec: one core, medians of \(rounds) rounds; chunks of 1 448 bytes, "
        + "segments of 65 536")
    for group in groups {
      for subject in group { subject.add(to: &report, peer: group[0]) }
    }
    report.machine = machine.line
    report.print(json: json)
  }
}
