import Foundation

/// Two hosts of a lab, h1 and h2, and a path between them that delays, limits and loses: what
/// `session_path` does with what passes their switch.
final class SessionPath: Sendable {
  /// What it is like, each way.
  struct Conditions: Sendable {
    /// Of packets, from 0 to 1.
    var loss = 0.0
    /// Seconds one way.
    var delay = 0.05
    /// Bits a second.
    var rate = 20e6
    /// Bytes that wait in front of the rate: at most one product of bandwidth and round trip.
    var queue = 250_000
    var seed = 1

    var words: [String] {
      ["loss=\(loss)", "delay=\(delay)", "rate=\(rate)", "queue=\(queue)", "seed=\(seed)"]
    }
  }

  /// Where h2 is.
  static let address = "10.77.0.2"

  private let lab: DiscoveryLab
  private let relay: SessionSide

  private init(in lab: DiscoveryLab, _ conditions: Conditions) async throws {
    self.lab = lab
    // A path counts and loses packets, so the hosts make packets and not large pieces of a stream.
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

  /// Lends a path to `body`, and takes it down with all that runs on it.
  static func with<Value>(
    _ conditions: Conditions, _ body: (SessionPath) async throws -> Value
  ) async throws -> Value {
    try await DiscoveryLab.with(hosts: 2, .v4) { lab in
      let path = try await SessionPath(in: lab, conditions)
      let result: Result<Value, any Error>
      do { result = .success(try await body(path)) } catch { result = .failure(error) }
      await path.relay.end()
      return try result.get()
    }
  }

  /// Starts a side in a host.
  func start(
    _ subject: SessionSubject, _ role: SessionSubject.Role, in host: String, _ options: [String]
  ) throws -> SessionSide {
    SessionSide(
      try lab.start(host, subject.command(role, options)), "\(subject.name), \(role.rawValue)")
  }

  /// What has passed since the path was made: `out_` from h1 to h2, `back_` the other way.
  func counters() async throws -> SessionFigures { try await relay.ask("stats") }

  /// What is counted begins anew.
  func reset() async throws { _ = try await relay.ask("reset") }

  /// h1's datagrams come from another port from now on.
  func rebind() async throws { _ = try await relay.ask("rebind") }

  private static func perform(_ lab: DiscoveryLab, _ host: String, _ command: String) async throws {
    let program = try lab.start(host, ["bash", "-c", "\(command) && echo yes || echo no"])
    let line = await program.line { $0 == "yes" || $0 == "no" }
    await program.end()
    guard line?.text == "yes" else {
      throw DiscoveryFailure("\(host): \(program.lines().first?.text ?? command)")
    }
  }
}
