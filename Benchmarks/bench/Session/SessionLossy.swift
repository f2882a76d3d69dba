/// A measurement over an emulated path between two hosts: h1 sends, h2 receives.
struct SessionLossy: Sendable {
  let scenario: SessionCommand.Scenario
  let subject: SessionSubject
  /// The fraction of packets lost in each direction, from 0 to 1.
  let loss: Double
  let seconds: Int
  let seed: Int

  private static let port = 7_777
  /// The seconds before the measurement starts, so that it excludes the connection's start.
  static let warm = 2

  /// Creates a measurement, or returns `nil` if the subject does not support the scenario.
  init?(
    _ scenario: SessionCommand.Scenario, _ subject: SessionSubject, loss: Double, seconds: Int,
    seed: Int
  ) {
    guard subject.has(.receive, .send), subject.isReliable || scenario == .states,
      subject.hasDatagrams || scenario != .migration
    else { return nil }
    self.scenario = scenario
    self.subject = subject
    self.loss = loss
    self.seconds = seconds
    self.seed = seed
  }

  var percent: String { "\(Report.text(loss * 100)) %" }

  /// The traffic that the sender produces.
  private var what: String {
    (scenario == .migration ? SessionCommand.Scenario.small : scenario).rawValue
  }

  /// Returns the receiver's figures, the sender's and the path's. `wire` is the bytes of IP packets
  /// on the path, divided by the bytes of payload.
  func run() async throws -> SessionFigures {
    try await SessionPath.with(.init(loss: loss, seed: seed)) { path in
      var options = ["port=\(Self.port)"]
      let isCounted = scenario == .small || scenario == .migration
      if isCounted { options.append("last=\((Self.warm + seconds) * 60)") }
      let receiver = try path.start(
        subject, .receive, in: "h2", options + ["warm=\(Self.warm)", "seconds=\(seconds)"])
      try await receiver.ready()
      let sender = try path.start(
        subject, .send, in: "h1",
        options + ["address=\(SessionPath.address)", "what=\(what)"])
      try await sender.ready()
      if scenario == .migration {
        try await Task.sleep(for: .seconds(Self.warm + seconds / 2))
        try await path.rebind()
      }
      var figures = try await receiver.figures(within: .seconds(seconds + 20))
      figures = figures.merging(try await path.counters()).merging(sender.figuresSoFar())
      let carried = figures["out_bytes"] - figures["out_flying"]
      figures["wire"] = carried / figures["payload"]
      await sender.end()
      await receiver.end()
      return figures
    }
  }
}
