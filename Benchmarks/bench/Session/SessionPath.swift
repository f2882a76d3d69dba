import Foundation

/// Two hosts, h1 and h2, of an emulated network, and a path between them that delays, limits and
/// drops packets. The program `session_path` forwards the packets at their switch.
final class SessionPath: Sendable {
  /// The properties of the path, the same in both directions.
  struct Conditions: Sendable {
    /// The fraction of packets lost, from 0 to 1.
    var loss = 0.0
    /// The one-way delay, in seconds.
    var delay = 0.05
    /// The rate, in bits a second.
    var rate = 20e6
    /// The longest queue at the bottleneck, in bytes: at most the product of bandwidth and
    /// round-trip time.
    var queue = 250_000
    var seed = 1

    var words: [String] {
      ["loss=\(loss)", "delay=\(delay)", "rate=\(rate)", "queue=\(queue)", "seed=\(seed)"]
    }
  }

  /// The address of h2.
  static let address = "10.77.0.2"

  private let lab: NetworkLab
  private let relay: SessionSide

  private init(in lab: NetworkLab, _ conditions: Conditions) async throws {
    self.lab = lab
    // The path counts and drops packets, so the hosts must send packets rather than large segments
    // of a stream.
    for host in ["h1", "h2"] {
      try await Self.perform(
        lab, host, "ip link set eth0 gso_max_size 1500 gso_max_segs 1")
    }
    try await Self.perform(
      lab, "sw", "ip link set p1_0 nomaster && ip link set p2_0 nomaster")
    relay = SessionSide(
      try lab.start("sw", SessionSubject.itself("path", "p1_0", "p2_0") + conditions.words),
      "the path")
    try await relay.ready()
  }

  /// Sets up a path, passes it to `body`, and removes it with every process that runs on it.
  static func with<Value>(
    _ conditions: Conditions, _ body: (SessionPath) async throws -> Value
  ) async throws -> Value {
    try await NetworkLab.with(hosts: 2, .v4) { lab in
      let path = try await SessionPath(in: lab, conditions)
      let result: Result<Value, any Error>
      do { result = .success(try await body(path)) } catch { result = .failure(error) }
      await path.relay.end()
      return try result.get()
    }
  }

  /// Starts a side on a host of the path.
  func start(
    _ subject: SessionSubject, _ role: SessionSubject.Role, in host: String, _ options: [String]
  ) throws -> SessionSide {
    SessionSide(
      try lab.start(host, subject.command(role, options)), "\(subject.name), \(role.rawValue)")
  }

  /// Returns the path's counters since it was made or reset: `out_` from h1 to h2, `back_` from h2
  /// to h1.
  func counters() async throws -> SessionFigures { try await relay.ask("stats") }

  /// Resets the counters.
  func reset() async throws { _ = try await relay.ask("reset") }

  /// Changes the source port of h1's datagrams from now on, as a NAT would.
  func rebind() async throws { _ = try await relay.ask("rebind") }

  private static func perform(_ lab: NetworkLab, _ host: String, _ command: String) async throws {
    let program = try lab.start(host, ["bash", "-c", "\(command) && echo yes || echo no"])
    let line = await program.line { $0 == "yes" || $0 == "no" }
    await program.end()
    guard line?.text == "yes" else {
      throw BenchmarkFailure(
        "\(host): '\(command)' failed: \(program.lines().first?.text ?? "no output")")
    }
  }
}
