import ArgumentParser
import CaromTransport
import EchoPeers
import Foundation

/// Measures round trips over loopback, compared with the same echo in plain C and in SwiftNIO.
struct EchoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "echo",
    abstract: "UDP and TCP round trips on loopback, compared with plain C and SwiftNIO.",
    discussion: """
      All messages have 64 bytes. Percentiles: round trips of one message every 50 us. Window: \
      throughput with 64 messages in flight. The server and the load generator have a core \
      each. CPU is the server's user and system time; its ratio to plain C on libuv is the \
      median of the ratios of all rounds.
      """)

  @Option(help: "Rounds, in each of which every subject runs once; medians are reported.")
  var rounds = 7

  @Option(help: "Paced messages in each round, at most 20,000.")
  var paced = 2_000

  @Option(help: "Windowed messages in each round.")
  var windowed = 100_000

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  @Flag(help: "Skip SwiftNIO.")
  var withoutNIO = false

  @Flag(
    help: "Measure framed packets of several sizes over TCP instead, compared with an echo in C.")
  var sizes = false

  func validate() throws {
    guard rounds > 0, windowed > 0, (1...Int(ECHO_PACED)).contains(paced) else {
      throw ValidationError(
        "--rounds, --paced and --windowed must be at least 1, --paced at most 20,000")
    }
  }

  func run() async throws {
    if sizes {
      try await EchoSizes(rounds: rounds).run(json: json)
      return
    }
    var machine = Machine()
    var report = Report(title: "bench echo: 64 bytes on loopback, medians of \(rounds) rounds")
    let executable = withoutNIO ? nil : NIOPeer.built()
    if !withoutNIO, executable == nil {
      report.remarks.append(
        "SwiftNIO was not measured, because its peer did not build or start: \(NIOPeer.remedy)")
    }
    var subjects = try await makeSubjects(nio: executable)
    echo_pin(0, Self.loadCore)
    for round in 1...rounds {
      progress("round \(round) of \(rounds)")
      machine.sampleNoise()
      for index in subjects.indices {
        await subjects[index].measure(paced: paced, windowed: windowed)
      }
    }
    for subject in subjects { await subject.stop() }
    add(subjects, to: &report)
    report.machine = machine.line
    report.print(json: json)
  }

  /// The cores of the server and of the load generator; the same core if the machine has only one.
  private static let serverCore: Int32 = 0
  static var loadCore: Int32 {
    ProcessInfo.processInfo.activeProcessorCount > 1 ? 1 : 0
  }

  // Subjects: the reference of each protocol stands first

  private func makeSubjects(nio: String?) async throws -> [EchoSubject] {
    var subjects: [EchoSubject] = []
    subjects += [Self.c(ECHO_UV_UDP), Self.c(ECHO_EPOLL_UDP)].compactMap { $0 }
    subjects.append(try await Self.swift(.udpClosure, "UDP, Swift: batch closure"))
    subjects.append(try await Self.swift(.udpPlain, "UDP, Swift: batch, no offload"))
    subjects.append(try await Self.swift(.udpActor, "UDP, Swift: batch in an actor"))
    subjects.append(try await Self.swift(.udpUnbatched, "UDP, Swift: flush each"))
    subjects += [Self.nio("udp", nio), Self.nio("vectored", nio)].compactMap { $0 }
    subjects += [Self.c(ECHO_UV_TCP), Self.c(ECHO_EPOLL_TCP)].compactMap { $0 }
    subjects.append(try await Self.swift(.tcpActor, "TCP, Swift: stream in an actor"))
    subjects += [Self.nio("tcp", nio)].compactMap { $0 }
    return subjects
  }

  static func c(_ kind: echo_kind) -> EchoSubject? {
    let names: [UInt32: String] = [
      ECHO_UV_UDP.rawValue: "UDP, C: libuv", ECHO_EPOLL_UDP.rawValue: "UDP, C: epoll",
      ECHO_UV_TCP.rawValue: "TCP, C: libuv", ECHO_EPOLL_TCP.rawValue: "TCP, C: epoll",
    ]
    guard let name = names[kind.rawValue], echo_server_start(kind, serverCore) else { return nil }
    return EchoSubject(
      name, isTCP: name.hasPrefix("TCP"), port: echo_server_port(kind),
      cpu: { echo_server_cpu(kind) }, stop: { echo_server_stop(kind) })
  }

  static func swift(_ variant: SwiftEcho.Variant, _ name: String) async throws
    -> EchoSubject
  {
    let loop = try NetworkLoop(name: "echo")
    let echo = SwiftEcho(on: loop)
    let port = try await echo.open(variant, core: serverCore)
    return EchoSubject(
      name, isTCP: variant == .tcpActor || variant == .tcpFrames, port: port,
      cpu: { await echo.cpu() },
      stop: {
        await echo.close()
        await loop.shutdown()
      })
  }

  private static func nio(_ kind: String, _ executable: String?) -> EchoSubject? {
    guard let executable,
      let peer = NIOPeer(kind, executable: executable, core: serverCore)
    else { return nil }
    let name = ["udp": "UDP, NIO: plain", "vectored": "UDP, NIO: vectored"][kind]
    return EchoSubject(
      name ?? "TCP, NIO", isTCP: kind == "tcp", port: peer.port, cpu: { peer.cpu },
      stop: { peer.stop() })
  }

  // Report

  private func add(_ subjects: [EchoSubject], to report: inout Report) {
    for subject in subjects {
      let reference = subjects.first { $0.isTCP == subject.isTCP } ?? subject
      report.add(
        subject.name,
        .init("p50", median(subject.rounds.map(\.p50)), "us"),
        .init("p99", median(subject.rounds.map(\.p99)), "us"),
        .init("window", median(subject.rounds.map(\.rate)), "kmsg/s"),
        .init("CPU", median(subject.rounds.map(\.cpu)), "us/msg"),
        .init("CPU against libuv", subject.ratio(to: reference), "times"))
      if subject.rounds.count < rounds {
        report.remarks.append(
          "\(subject.name): "
            + "\(rounds - subject.rounds.count) rounds lost messages and are not counted"
        )
      }
    }
    addVerdict(subjects, to: &report)
  }

  /// Adds the ratio of our fastest UDP echo to each peer's, and how much the reference itself
  /// varied.
  private func addVerdict(_ subjects: [EchoSubject], to report: inout Report) {
    let udp = subjects.filter { !$0.isTCP }
    let ours = udp.filter { $0.name.contains("Swift") }
    guard let best = ours.min(by: { median($0.rounds.map(\.cpu)) < median($1.rounds.map(\.cpu)) })
    else { return }
    for peer in udp where !peer.name.contains("Swift") {
      report.add(
        "\(best.name) against \(peer.name)", .init("CPU ratio", best.ratio(to: peer), "times"))
    }
    let costs = udp[0].rounds.map(\.cpu)
    guard let low = costs.min(), let high = costs.max(), low > 0 else { return }
    let percent = Int(((high / low - 1) * 100).rounded())
    report.remarks.append("\(udp[0].name) varied by \(percent) % between rounds")
  }
}
