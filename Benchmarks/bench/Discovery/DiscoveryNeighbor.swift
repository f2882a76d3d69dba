/// Measures how long a daemon takes to browse, with and without Carom on the same host.
///
/// The daemon is `Tests/Lab/wildcard.py`. Like mDNSResponder it holds port 5353 at the wildcard
/// addresses, and its first query asks for a unicast response. The host that it asks answers after
/// exactly 50 ms, so that the random delay of real answers does not hide the difference.
struct DiscoveryNeighbor: Sendable {
  /// The times of the daemon's browses, in milliseconds.
  struct Times: Sendable {
    var alone: [Double]
    var besideCarom: [Double]

    /// The ratio of the medians.
    var ratio: Double { median(besideCarom) / median(alone) }
  }

  let stack: NetworkLab.Stack
  /// The number of browses with Carom, and the number without.
  let count: Int

  func run() async throws -> Times {
    try await NetworkLab.with(hosts: 2, stack) { lab in
      _ = try await start("answer", "50", on: "h2", in: lab)
      let daemon = try await start(on: "h1", in: lab)
      let alone = try await browse(daemon, from: 0)
      let carom = DiscoveryCaromSubject(in: lab, host: "h1")
      try await carom.prepare()
      let sighting = try await carom.watch()
      guard await sighting.time(of: .found, "Far") != nil else {
        throw BenchmarkFailure("Carom found no service beside the daemon; try a quiet machine")
      }
      return Times(alone: alone, besideCarom: try await browse(daemon, from: count))
    }
  }

  private func start(
    _ arguments: String..., on host: String, in lab: NetworkLab
  ) async throws -> ChildProgram {
    let program = try lab.start(host, ["python3", "wildcard.py"] + arguments)
    guard await program.line(where: { $0 == "bound" }) != nil else {
      throw BenchmarkFailure(
        "wildcard.py: \(program.lines().last?.text ?? "printed nothing; check python3")")
    }
    return program
  }

  /// Browses for a new type each time, since late answers to the last browse may still arrive.
  private func browse(_ daemon: ChildProgram, from number: Int) async throws -> [Double] {
    var times: [Double] = []
    for number in number..<(number + count) {
      let first = daemon.count
      daemon.send("browse _type\(number)._udp")
      let line = await daemon.line(from: first) { $0.hasPrefix("answered ") }
      let words = line?.text.split(separator: " ") ?? []
      guard words.count == 3, let time = Double(words[1]) else {
        throw BenchmarkFailure("the daemon received no answer; run again on a quiet machine")
      }
      times.append(time)
    }
    return times
  }
}

extension DiscoveryRun {
  mutating func measureNeighbor() async throws {
    let neighbor = DiscoveryNeighbor(stack: stack, count: isFull ? 100 : 20)
    let times = try await neighbor.run()
    report.add("a daemon browses alone", .init("found", median(times.alone), "ms"))
    report.add("a daemon browses beside carom", .init("found", median(times.besideCarom), "ms"))
    report.goals?.append(
      .init("G18", "a daemon's browse beside Carom / alone", [times.ratio], "", atMost: 1.05))
  }
}
