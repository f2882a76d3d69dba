import EchoPeers

/// Measures the latency and throughput of framed packets over TCP for several message sizes,
/// compared with an echo that returns the same bytes without decoding frames.
struct EchoSizes {
  static let lengths = [16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576]
  /// The approximate number of bytes that are sent for each size in a round.
  private static let volume = 64 << 20
  private static let mostMessages = 20_000
  /// The bytes in flight while throughput is measured; at least two messages are in flight.
  private static let window = 64 << 10

  let rounds: Int

  /// The results of one subject with one size: one value for each round.
  private struct Figures {
    var p50: [Double] = []
    var p99: [Double] = []
    var rate: [Double] = []
  }

  func run(json: Bool) async throws {
    var machine = Machine()
    var report = Report(
      title:
        "bench echo --sizes: packets in frames over TCP on loopback, medians of \(rounds) rounds")
    var subjects: [EchoSubject] = []
    if let peer = EchoCommand.c(ECHO_UV_TCP) { subjects.append(peer) }
    subjects.append(try await EchoCommand.swift(.tcpActor, "Swift: bytes"))
    subjects.append(try await EchoCommand.swift(.tcpFrames, "Swift: packets in frames"))
    echo_pin(0, EchoCommand.loadCore)
    var figures: [[Figures]] = Self.lengths.map { _ in subjects.map { _ in Figures() } }
    for round in 1...rounds {
      progress("round \(round) of \(rounds)")
      machine.sampleNoise()
      for (row, length) in Self.lengths.enumerated() {
        for (column, subject) in subjects.enumerated() {
          guard measure(subject, length, into: &figures[row][column]) else {
            report.remarks.append("\(subject.name), \(length) B: a round failed and is not counted")
            continue
          }
        }
      }
    }
    for subject in subjects { await subject.stop() }
    for (row, length) in Self.lengths.enumerated() {
      for (column, subject) in subjects.enumerated() {
        add(
          figures[row][column], beside: figures[row][0], "\(length) B, \(subject.name)", to: &report
        )
      }
    }
    report.machine = machine.line
    report.print(json: json)
  }

  /// Sends one message at a time to measure latency, then several in flight to measure throughput.
  /// Returns false if the peer failed.
  private func measure(_ subject: EchoSubject, _ length: Int, into figures: inout Figures) -> Bool {
    let count = max(32, min(Self.mostMessages, Self.volume / length))
    guard echo_frames(subject.port, length, min(count, 2_000), 1) > 0 else { return false }
    let (p50, p99) = (echo_percentile(50), echo_percentile(99))
    let time = echo_frames(subject.port, length, count, max(2, Self.window / length))
    guard time > 0 else { return false }
    figures.p50.append(Double(p50) / 1000)
    figures.p99.append(Double(p99) / 1000)
    figures.rate.append(Double(count * length) / Double(time) * 1000)
    return true
  }

  private func add(
    _ figures: Figures, beside reference: Figures, _ name: String, to report: inout Report
  ) {
    report.add(
      name, .init("p50", median(figures.p50), "us"), .init("p99", median(figures.p99), "us"),
      .init("throughput", median(figures.rate), "MB/s"),
      .init("p50 against libuv", median(figures.p50) / median(reference.p50), "times"),
      .init("throughput against libuv", median(figures.rate) / median(reference.rate), "times"))
  }
}
