import ArgumentParser
import CaromCodec
import Foundation

/// Measures how many frames a second the codec handles, compared with `memcpy` of the same bytes,
/// and the heap allocations of each frame.
struct CodecCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "codec",
    abstract: "Encodes and decodes frames, compared with memcpy, and payloads in CBOR.")

  @Option(help: "Rounds, in each of which every subject runs once; medians are reported.")
  var rounds = 7

  @Option(help: "Bytes that each subject processes in a round, in MiB.")
  var volume = 16

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  static let lengths = [16, 128, 1_024, 16_384, 131_072, 1_048_576]

  func validate() throws {
    guard rounds > 0, volume > 0 else {
      throw ValidationError("--rounds and --volume must be at least 1")
    }
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
