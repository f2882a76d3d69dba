import ArgumentParser
import Carom
import Foundation

/// Measures the transfer of a file beside the kernel's TCP.
struct FilesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "files",
    abstract: "Compares the transfer of a file with the kernel's TCP: goodput, memory, latency.",
    discussion: """
      Two processes send a file of random bytes, encrypted, over TCP and over UDP, and compare it \
      with what was received. Small messages make round trips every 10 ms, before the transfer \
      and beside it. Memory is the most that a process has had resident.

      loopback: 1 GiB, with each side on its own core. As root, over an emulated path between two \
      network namespaces: link, 256 MiB at 1 Gbit/s; narrow, 128 MiB at 200 Mbit/s, which two \
      cores can emulate beside both sides; lossy, 64 MiB at 20 Mbit/s with 50 ms and 5 % loss in \
      each direction.
      """)

  @Option(help: ArgumentHelp("Measure only this scenario; may be repeated.", valueName: "name"))
  var scenario: [FilesScenario] = []

  @Option(help: "The size of the file in MiB, in each scenario.")
  var size: Int?

  @Option(help: "The folder in which the files are, for example on a disk or in memory.")
  var folder = FileManager.default.temporaryDirectory.path

  @Option(help: "Measured seconds of the kernel's TCP.")
  var seconds = 10

  @Option(help: "Seconds for which only small messages are sent before the file.")
  var idle = 2

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  func validate() throws {
    guard size ?? 1 > 0, seconds > 0, idle >= 0 else {
      throw ValidationError("--size and --seconds must be at least 1, and --idle at least 0")
    }
  }

  func run() async throws {
    var machine = Machine()
    machine.sampleNoise()
    var report = Report(title: "bench files: one file, encrypted")
    var goals: [BenchmarkGoal] = []
    var wanted = scenario.isEmpty ? FilesScenario.allCases : scenario
    if let shortcoming = NetworkLab.shortcoming, wanted.contains(where: { $0.path != nil }) {
      report.remarks.append("scenarios with a path were skipped: \(shortcoming)")
      wanted.removeAll { $0.path != nil }
    }
    let folder = URL(filePath: folder).appending(
      path: "carom-bench-\(UInt32.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for scenario in wanted {
      let file = folder.appending(path: "sent")
      try Self.write(size ?? scenario.size, to: file)
      progress("\(scenario.rawValue): \(scenario.peer.name)")
      let peer = try await FilesMeasurement.measurePeer(scenario, seconds: seconds)
      report.beginTable()
      report.add("\(scenario.rawValue), \(scenario.peer.name)", .init("goodput", peer, "Mbit/s"))
      for link in SessionCarom.Link.allCases {
        progress("\(scenario.rawValue): \(link.rawValue)")
        machine.sampleNoise()
        let measurement = FilesMeasurement(
          scenario: scenario, link: link, file: file, folder: folder, idle: idle)
        do {
          let figures = try await measurement.run()
          report.add("\(scenario.rawValue), Carom, \(link.protocolName)", figures)
          goals += Self.goals(scenario, link, figures, peer)
        } catch { report.remarks.append("\(scenario.rawValue), \(link.protocolName): \(error)") }
      }
    }
    machine.sampleNoise()
    report.sessionGoals = goals
    if let remark = machine.busyRemark { report.remarks.append(remark) }
    report.machine = machine.line
    report.print(json: json)
  }

  /// Writes a file of so many MiB, of which no two are equal.
  private static func write(_ size: Int, to file: URL) throws {
    var generator = SystemRandomNumberGenerator()
    var block = Data((0..<(1 << 20)).map { _ in UInt8.random(in: 0...255, using: &generator) })
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    for number in 0..<size {
      block[0] = UInt8(truncatingIfNeeded: number)
      block[1] = UInt8(truncatingIfNeeded: number >> 8)
      block[2] = UInt8(truncatingIfNeeded: number >> 16)
      try handle.write(contentsOf: block)
    }
  }

  private static func goals(
    _ scenario: FilesScenario, _ link: SessionCarom.Link, _ figures: SessionFigures, _ peer: Double
  ) -> [BenchmarkGoal] {
    let name = "\(scenario.rawValue), \(link.protocolName)"
    let beside = [(name: scenario.peer.name, figure: peer)]
    var goals = [
      BenchmarkGoal(
        "\(name): memory of the sender", figures["memory"], "MiB", .atMost, 32),
      BenchmarkGoal(
        "\(name): memory of the receiver", figures["to_memory"], "MiB", .atMost, 32),
    ]
    if let share = scenario.smallestShare {
      goals.append(
        BenchmarkGoal(
          "\(name): goodput", figures["goodput"], "Mbit/s", .atLeast, share * peer, beside: beside))
    } else {
      goals.append(
        BenchmarkGoal(
          "\(name): goodput", figures["goodput"], "Mbit/s", .atLeast, 2_000, beside: beside))
      goals.append(
        BenchmarkGoal(
          "\(name): small messages' p99 above idle",
          (figures["beside_p99"] - figures["idle_p99"]) / 1e3, "ms", .atMost, 5))
    }
    return goals
  }
}

extension Report {
  fileprivate mutating func add(_ name: String, _ figures: SessionFigures) {
    add(
      name, .init("goodput", figures["goodput"], "Mbit/s"),
      .init("hashing", figures["hashing"], "Mbit/s"),
      .init("CPU of the sender", figures["cpu"], "s"),
      .init("CPU of the receiver", figures["to_cpu"], "s"),
      .init("memory of the sender", figures["memory"], "MiB"),
      .init("memory of the receiver", figures["to_memory"], "MiB"),
      .init("small messages, idle: p99", figures["idle_p99"], "us"),
      .init("beside: p50", figures["beside_p50"], "us"), .init("p99", figures["beside_p99"], "us"))
  }
}
